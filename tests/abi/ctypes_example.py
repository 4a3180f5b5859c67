#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A binding in a few lines: lists codecs, opens files, and raises errors as exceptions.

    ctypes_example.py libterrazzo.so FILE...

Layouts are declared here, as every binding must; numbers are not: sizes are those of the declarations, values of
enumerations come from the parsers of names. A declaration of a struct that begins with its size may end after the
last member that is used: the library takes it for an older one.
"""
import ctypes as c
import sys

TYPES = {"bool": c.c_bool, "short": c.c_uint16, "int": c.c_int32, "uint": c.c_uint32, "long": c.c_int64,
         "size": c.c_size_t, "double": c.c_double, "text": c.c_char_p, "pointer": c.c_void_p, "line": c.c_char * 512}


def declare(name, members):
    words = iter(members.split())
    return type(name, (c.Structure,), {"_fields_": [(next(words), TYPES[kind]) for kind in words]})


Error = declare("Error", "int result int cause int ifd int tag int level int system_error long tile long offset "
                         "long expected long found long count text limit line message")
OpenOptions = declare("OpenOptions", "size struct_size uint page uint sidecars bool strict")
CodecInfo = declare("CodecInfo", "text name text title short compression short other_1 short other_2 short other_3 "
                                 "bool can_read bool can_write")


def call(function, *arguments):
    """Calls a function that returns tz_result and takes a tz_error last."""
    error = Error()
    if function(*arguments, c.byref(error)) != 0:
        raise OSError(f"{tz.tz_cause_name(error.cause).decode()}: {error.message.decode()}")


def make(kind, initialise, **members):
    """Returns a struct that its _init function has initialised."""
    value = kind()
    initialise(c.byref(value), c.c_size_t(c.sizeof(value)))
    for name, member in members.items():
        setattr(value, name, member)
    return value


def value_of(parse, name):
    """Returns the value of an enumeration by its name."""
    value = c.c_int()
    if not parse(c.byref(value), name.encode()):
        raise ValueError(name)
    return value.value


def open_file(path):
    file = c.c_void_p()
    options = make(OpenOptions, tz.tz_open_options_init, sidecars=value_of(tz.tz_sidecar_from_name, "aux"))
    call(tz.tz_open, c.byref(file), path.encode(), c.byref(options))
    return file


tz = c.CDLL(sys.argv[1])
tz.tz_cause_name.restype = c.c_char_p
tz.tz_codec_get.restype = c.POINTER(CodecInfo)
codecs = [tz.tz_codec_get(c.c_size_t(i)).contents for i in range(tz.tz_codec_count())]
print("writes", *(codec.name.decode() for codec in codecs if codec.can_write))
for path in sys.argv[2:]:
    try:
        tz.tz_close(open_file(path))
        print(f"{path}: opened")
    except OSError as error:
        print(f"{path}: {error}")
