"""Files are flushed to the drive with what each platform has for that."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import SOURCE

if TYPE_CHECKING:
    from pathlib import Path

# A platform with such a request, whose file system answers with this error, or not.
PROGRAM = """
import fcntl, json, os, sys
path, code = sys.argv[1:]
calls = []

def request(handle, word):
    calls.append(word)
    if code != "0":
        raise OSError(int(code), "no")

def fsync(handle):
    calls.append("fsync")

if code:
    fcntl.F_FULLFSYNC, fcntl.fcntl = 51, request
else:
    assert not hasattr(fcntl, "F_FULLFSYNC")
from wc_cli.ledger import flushing
os.fsync = fsync
handle = os.open(path, os.O_RDONLY)
try:
    flushing.flush_handle(handle)
except OSError as error:
    calls.append(error.errno)
print(json.dumps(calls))
"""


@pytest.mark.skipif(sys.platform == "darwin", reason="has the request itself")
@pytest.mark.parametrize(
    ("code", "calls"),
    [
        pytest.param("", ["fsync"], id="Linux"),
        pytest.param("0", [51], id="macOS"),
        pytest.param(str(errno.ENOTSUP), [51, "fsync"], id="macOS, a network's disk"),
        pytest.param(str(errno.EIO), [51, errno.EIO], id="macOS, a broken drive"),
    ],
)
def test_a_file_is_flushed(tmp_path: Path, code: str, calls: list[object]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), code],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == calls
