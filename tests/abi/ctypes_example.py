#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A binding in a few lines: resolves and reads the middle of a file, and writes it as a COG. Errors become exceptions.

    ctypes_example.py libterrazzo.so FILE COG

Layouts are declared here, as every binding must; numbers are not: sizes are those of the declarations, values of
enumerations come from the parsers of names. A declaration of a struct that begins with its size may end after the
last member that is used: the library takes it for an older one."""
import ctypes as c
import sys

TYPES = {"bool": c.c_bool, "int": c.c_int32, "uint": c.c_uint32, "long": c.c_int64,
         "size": c.c_size_t, "text": c.c_char_p, "pointer": c.c_void_p, "line": c.c_char * 512,
         "pad": c.c_byte * 64, "rest": c.c_int64 * 15}
LAYOUTS = """
tz_error: int result int cause int ifd int tag int level int system_error long tile long offset long expected
    long found long count text limit pad pad line message;
tz_info: text name long file_size bool bigtiff bool big_endian bool chain_complete uint ifd_count long directory_end
    long bytes_read uint reads uint page_count uint page uint width uint height uint bands int dtype;
tz_window: long column long row uint width uint height;
tz_buffer: size struct_size pointer data long offset int memory int dtype uint bands uint height uint width;
tz_item: size struct_size pointer file uint level bool mask tz_window window pointer bands uint band_count pointer into;
tz_read_shape: size struct_size uint level bool resampled tz_window window int dtype uint bands uint height uint width;
tz_image_spec: size struct_size uint width uint height uint bands int dtype;
tz_codec_options: int compression int effort rest rest;
tz_write_options: size struct_size bool strips bool big_endian bool sparse uint tile_width uint tile_height
    uint alignment int interleave int bigtiff tz_codec_options codec tz_codec_options overview_codec
    tz_codec_options mask_codec pointer discard_bits uint discard_count bool cog"""
for layout in LAYOUTS.split(";"):
    name, *words = layout.replace(":", " ").split()
    fields = [(member, TYPES[kind]) for kind, member in zip(words[::2], words[1::2])]
    TYPES[name] = type(name, (c.Structure,), {"_fields_": fields})

tz = c.CDLL(sys.argv[1])
tz.tz_cause_name.restype = tz.tz_result_name.restype = tz.tz_dtype_name.restype = c.c_char_p
tz.tz_dtype_size.restype, tz.tz_compression_from_name.restype = c.c_size_t, c.c_bool
tz.tz_file_get_info.restype = c.POINTER(TYPES["tz_info"])


def call(function, *arguments):
    """Calls a function that returns tz_result and takes a tz_error last."""
    error = TYPES["tz_error"]()
    if tz.tz_result_name(function(*arguments, c.byref(error))) != b"ok":
        raise OSError(f"{tz.tz_cause_name(error.cause).decode()}: {error.message.decode()}")


def make(name, **members):
    """Returns a struct that its _init function has initialised."""
    value = TYPES[name]()
    getattr(tz, f"{name}_init")(c.byref(value), c.c_size_t(c.sizeof(value)))
    for member in members.items():
        setattr(value, *member)
    return value


file, writer, lzw = c.c_void_p(), c.c_void_p(), c.c_int32()
try:
    call(tz.tz_open, c.byref(file), sys.argv[2].encode(), None)
    info = tz.tz_file_get_info(file).contents
    window = TYPES["tz_window"](info.width // 4, info.height // 4, max(info.width // 2, 1), max(info.height // 2, 1))
    item, result = make("tz_item", file=file, window=window), make("tz_read_shape")
    call(tz.tz_read_resolve, c.byref(result), c.byref(item), None)
    shape = {member: getattr(result, member) for member in ("bands", "height", "width", "dtype")}
    pixels = bytearray(result.bands * result.height * result.width * tz.tz_dtype_size(result.dtype))
    into = make("tz_buffer", data=c.addressof(c.c_char.from_buffer(pixels)), **shape)
    item.into = c.addressof(into)
    call(tz.tz_read, c.byref(item), None, None)
    print(f"{result.width} x {result.height} of {tz.tz_dtype_name(result.dtype).decode()}: {pixels[:16].hex()}")
    spec, options = make("tz_image_spec", **shape), make("tz_write_options", cog=True)
    options.codec.compression = tz.tz_compression_from_name(c.byref(lzw), b"LZW") and lzw.value
    call(tz.tz_create, c.byref(writer), sys.argv[3].encode(), c.byref(spec), c.byref(options))
    call(tz.tz_write_rows, writer, c.byref(into), None)
    call(tz.tz_commit, writer, None)
except OSError as error:
    sys.exit(f"{sys.argv[2]}: {error}")
finally:
    tz.tz_writer_close(writer)
    tz.tz_close(file)
