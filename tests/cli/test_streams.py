# SPDX-License-Identifier: Apache-2.0
"""Where output goes, and what happens when it cannot."""

import os
import pty
import signal
import subprocess

import pytest

from conftest import COMMAND, call, plain_environment
from tiffmaker import ASCII, Image


def run_on_terminal(arguments, **env):
    """Output of the command with a terminal as standard output and error."""
    master, slave = pty.openpty()
    child = subprocess.Popen([COMMAND, *arguments], stdout=slave, stderr=slave,
                             stdin=subprocess.DEVNULL, env=plain_environment(**env))
    os.close(slave)
    output = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        output += part
    os.close(master)
    child.wait(timeout=60)
    return output.decode()


def test_colour_on_a_terminal_only(run, plain):
    assert "\x1b[" in run_on_terminal(["info", plain])
    assert "\x1b" not in run("info", plain).stdout


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_off_by_environment(plain, env):
    assert "\x1b" not in run_on_terminal(["info", plain], **env)
    assert "\x1b[" in run_on_terminal(["info", "--color", "always", plain], **env)


def test_colour_by_option(run, plain):
    assert "\x1b[" in run("info", "--color=always", plain).stdout
    assert "\x1b" not in run_on_terminal(["info", "--color=never", plain])
    assert "\x1b[" in run("info", "--color=always", "missing.tif").stderr
    assert "\x1b[" in run_on_terminal(["info", plain], NO_COLOR="")


def test_json_has_no_colour(run, plain):
    assert "\x1b" not in run("info", "--json", "--color=always", plain).stdout


@pytest.mark.parametrize("arguments", [["help"], ["--version"], ["info"], ["info", "--json"],
                                       ["info", "--json", "--tiles"]])
def test_a_full_disk_is_an_error(plain, arguments):
    arguments = arguments + [plain] if arguments[0] == "info" else arguments
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: cannot write to standard output: No space left on device\n"


def test_a_full_disk_stops_a_long_list(save):
    path = save([Image(16000, 16000, tile=(16, 16), tile_bytes=1)])
    with open("/dev/full", "w") as full:
        done = subprocess.run([COMMAND, "info", "--tiles", path], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "cannot write to standard output" in done.stderr


def run_with_closed(plain, descriptors, arguments):
    def close():
        for descriptor in descriptors:
            os.close(descriptor)
    return subprocess.run([COMMAND, *arguments, plain], preexec_fn=close, stderr=subprocess.PIPE,
                          text=True)


def test_closed_standard_output_is_an_error(plain):
    done = run_with_closed(plain, [1], ["info"])
    assert done.returncode == 1
    assert done.stderr == "error: cannot write to standard output: Bad file descriptor\n"


def test_all_streams_closed(plain):
    assert run_with_closed(plain, [0, 1, 2], ["info", "--json"]).returncode == 1


def test_closed_standard_input_does_not_matter(plain):
    done = run_with_closed(plain, [0], ["info"])
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_pipe_ends_silently(save):
    path = save([Image(16000, 16000, tile=(16, 16), tile_bytes=1)])
    child = subprocess.Popen([COMMAND, "info", "--tiles", path], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    child.stdout.read(100)
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait(timeout=60) == -signal.SIGPIPE


def test_what_was_found_comes_before_what_was_wrong(plain):
    both = call("info", plain, "missing.tif", plain, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT).stdout
    assert both.count("Georeferencing") == 2
    assert both.index("Georeferencing") < both.index("error: ") < both.rindex("Georeferencing")


NASTY = "\x1b]0;owned\x07 \x1b[31mred \x7f\r\n tab\t \u009b2J \u202etxt"


def test_escape_sequences_of_a_file_do_not_reach_the_terminal(run, save):
    path = save([Image(4, 4, tags=[(305, ASCII, NASTY), (270, ASCII, b"bad \xff\xfe utf8\x1b[m\0")])])
    page = run("info", "-v", "--tags", path).stdout
    assert r"\x1b]0;owned\x07 \x1b[31mred \x7f\r\n tab\t \u009b2J \u202etxt" in page
    assert r"bad \xff\xfe utf8\x1b[m" in page
    text = page + run("info", "--json", "--tags", path).stdout
    assert not any(c in text for c in "\x1b\x07\x7f\r\t\u009b\u202e")


def test_escape_sequences_in_names(run, tmp_path):
    path = str(tmp_path / "a\x1b[31m\nb.tif")
    done = run("info", path)
    assert done.returncode == 1
    assert "\x1b" not in done.stderr and done.stderr.count("\n") == 1
    done = run("info\x1b[31m", path)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
