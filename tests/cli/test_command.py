# SPDX-License-Identifier: Apache-2.0
"""The frame of the command: help, version, options, exit codes, suggestions."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


COMMANDS = ["info", "read", "view", "plan", "diff", "validate", "cog", "convert", "plan-cog", "encode-block",
            "assemble", "clean", "devices"]


def option_names(help_text):
    return set(re.findall(r"^  (?:-\w, |    )(--[a-z0-9-]+)", help_text, re.MULTILINE))


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"], ["-h"], ["help", "help"]])
def test_overview_lists_the_commands(run, arguments):
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^  ([\w-]+)  +\w", done.stdout, re.MULTILINE) == COMMANDS + ["help"]
    assert done.stdout.index("Examples") < done.stdout.index("Commands")


@pytest.mark.parametrize("arguments", [["help", "info"], ["info", "-h"], ["info", "--help"],
                                       ["info", "a.tif", "-qh"], ["--help", "info"]])
def test_help_of_a_command_starts_with_examples(run, arguments):
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    parts = [done.stdout.index(word) for word in ("Examples\n", "Usage\n", "Options\n")]
    assert parts == sorted(parts)
    assert {"--json", "--tiles", "--limits", "--strict", "--quiet"} <= option_names(done.stdout)


def test_help_fits_80_columns(run):
    for arguments in (["help"], *([name, "-h"] for name in COMMANDS)):
        assert max(map(len, run(*arguments).stdout.splitlines())) <= 80


def test_man_page_and_help_have_the_same_options(run):
    page = (ROOT / "doc" / "terrazzo.1").read_text().replace("\\-", "-")
    options = page[page.index(".SH OPTIONS"):page.index(".SH FILES")]
    in_page = re.findall(r"^\.T[PQ]\n\.(?:B|BI|BR) (?:-\w \", \" )?(--[a-z0-9-]+)", options, re.MULTILINE)
    assert len(in_page) == len(set(in_page))
    assert set(in_page) == set().union(*(option_names(run(name, "-h").stdout) for name in COMMANDS))


def test_man_page_has_the_version_of_the_project():
    version = (ROOT / "VERSION").read_text().strip()
    assert f'"terrazzo {version}"' in (ROOT / "doc" / "terrazzo.1").read_text()


def test_version_says_what_it_was_built_with(run):
    done = run("--version")
    assert done.returncode == 0
    version = (ROOT / "VERSION").read_text().strip()
    assert done.stdout.splitlines()[0] == f"terrazzo {version}"
    assert re.search(r"^  proj +\S", done.stdout, re.MULTILINE)
    assert re.search(r"^  expat +\S", done.stdout, re.MULTILINE)
    assert re.search(r"^  cuda +\S", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("word, suggestion", [
    ("inof", "info"), ("Info", "info"), ("infos", "info"), ("hlep", "help"),
    ("--versoin", "--version"), ("inf", "info")])
def test_unknown_command_suggests_the_nearest(run, word, suggestion):
    done = run(word)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{word}'; did you mean '{suggestion}'?" in done.stderr


def test_unknown_command_without_a_near_one(run):
    done = run("frobnicate")
    assert done.returncode == 2
    assert done.stderr == "error: unknown command 'frobnicate'\nTry 'terrazzo help'.\n"


@pytest.mark.parametrize("word, suggestion", [
    ("--jsn", "--json"), ("--tile", "--tiles"), ("--sidecar", "--sidecars"), ("--js", "--json"),
    ("--colour=never", "--color"), ("--requirecrs", "--require-crs"), ("--nocrs", "--no-crs")])
def test_unknown_option_suggests_the_nearest(run, plain, word, suggestion):
    done = run("info", word, plain)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"did you mean '{suggestion}'?" in done.stderr
    assert "Try 'terrazzo info -h'." in done.stderr


@pytest.mark.parametrize("arguments, message", [
    (["--frobnicate"], "unknown option '--frobnicate'\n"),
    (["-x"], "unknown option '-x'\n"),
    (["--json=yes"], "option '--json=yes' takes no value\n"),
    (["--page"], "option '--page' needs a value\n"),
    (["--page", "-1"], "not '-1'\n"),
    (["--page=1x"], "not '1x'\n"),
    (["--page", "99999999999"], "not '99999999999'\n"),
    (["--color", "blue"], "not 'blue'\n"),
    (["--limit", "max_ifds"], "needs NAME=VALUE, not 'max_ifds'\n"),
    (["--limit", "max_idfs=3"], "unknown limit 'max_idfs'; did you mean 'max_ifds'?\n"),
    (["--limit=max_ifds=many"], "bad value in 'max_ifds=many'"),
    (["--limit=max_ifds="], "bad value in 'max_ifds='"),
    (["--limit=max_ifds=-1"], "bad value in"),
    (["--limit=max_ifds=99999999999999999999"], "bad value in"),
    (["--limit=max_ifds=99999999999G"], "bad value in"),
    ([], "no FILE given\n"),
    (["-"], "cannot read '-' (standard input)"),
    (["--", "-"], "cannot read '-' (standard input)")])
def test_wrong_usage(run, arguments, message):
    done = run("info", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and message in done.stderr
    assert done.stderr.endswith("Try 'terrazzo info -h'.\n")


def test_options_may_come_in_any_order_and_form(run, plain):
    expected = run("info", "--json", "--page", "0", "-q", "-v", plain)
    assert expected.returncode == 0
    for arguments in (["--page=0", plain, "-qv", "--json"], ["-vq", "--json", "--page=0", "--", plain]):
        assert run("info", *arguments).stdout == expected.stdout


def test_names_that_start_with_a_dash(run, plain, tmp_path):
    (tmp_path / "--json").write_bytes(pathlib.Path(plain).read_bytes())
    done = run("info", "--", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("--json\n")


def test_a_megabyte_of_arguments(run, plain):
    word = "x" * 125_000
    for arguments, code in ((["info"] + [word] * 8, 1), (["info", "--" + word], 2), ([word], 2),
                            (["info", "--limit", word + "=1"], 2), (["info", "--page", word], 2),
                            (["info"] + ["--quiet"] * 120_000 + [plain], 0)):
        done = run(*arguments)
        assert done.returncode == code
        assert len(done.stderr) < 8 * 1000


def test_limits_without_a_file(run):
    done = run("info", "--limits", "--limit", "max_ifds=7", "--limit=max_tile_bytes=2G",
               "--limit=max_levels=off", "--limit=max_xml_depth=0")
    assert done.returncode == 0
    rows = {line.split()[0]: line.split()[1:4] for line in done.stdout.splitlines()[1:]}
    assert rows["max_ifds"][0] == "7*"
    assert rows["max_tile_bytes"] [:2] == ["2", "GiB*"]
    assert rows["max_levels"][0] == rows["max_xml_depth"][0] == "off*"
    assert rows["max_ifd_entries"][0] == "4,096"


def test_limits_as_json(info):
    limits = info("--limits", "--limit=max_ifds=7", "--limit=max_levels=off")["limits"]
    assert limits["max_ifds"] == 7
    assert limits["max_levels"] is None
    assert limits["max_tag_bytes"] == 256 << 20
