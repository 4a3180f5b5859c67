# SPDX-License-Identifier: Apache-2.0
"""Every file of the corpus: shown or refused, as valid JSON that follows the schema, in no time."""

import json
import os
import pathlib
import re
import time

import pytest

from conftest import call
from test_json import check

CORPUS = os.environ.get("TERRAZZO_CORPUS")
BATCH = 60
SECONDS_PER_FILE = 1.0


def corpus_files():
    if not CORPUS:
        return []
    skipped = {"MANIFEST.tsv", "ORACLE.json.gz", "README.md"}
    return sorted(str(path) for path in pathlib.Path(CORPUS).rglob("*")
                  if path.is_file() and path.name not in skipped)


def batches():
    files = corpus_files()
    return [files[i:i + BATCH] for i in range(0, len(files), BATCH)] or [[]]


@pytest.mark.parametrize("files", batches(), ids=lambda files: os.path.basename(files[0] if files else ""))
def test_corpus(files):
    if not files:
        pytest.skip("no corpus: set TERRAZZO_CORPUS")
    start = time.monotonic()
    done = call("info", "--json", "--tags", *files)
    assert done.returncode in (0, 1), done.stderr[-3000:]
    answers = json.loads(done.stdout)
    assert [answer["description"] for answer in answers] == files
    assert (done.returncode == 1) >= any("error" in answer for answer in answers)
    page = call("info", "-v", "--tags", *files)
    assert page.returncode == done.returncode, page.stderr[-3000:]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\udc80-\udcff]", page.stdout + page.stderr)
    assert time.monotonic() - start < 2 * SECONDS_PER_FILE * len(files)
    for answer in answers:
        if "bands" in answer:
            answer["bands"] = answer["bands"][:20]  # some have 60,000
        check(answer)
