from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from wc_core.base.processes import is_running, running_for


def test_a_process_runs_until_it_is_waited_for() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE
    ) as p:
        assert is_running(p.pid)
        p.communicate()
    assert not is_running(p.pid)
    assert running_for(p.pid) is None
    assert is_running(1)  # root's: one may not signal it, but it runs
    assert not is_running(1 << 70)


def test_how_long_a_process_has_been_running() -> None:
    if not os.path.exists("/proc/self/stat"):
        pytest.skip("NO /proc here: the age of a process is untested")
    own = running_for(os.getpid())
    with subprocess.Popen(
        # A name with what separates the fields in it.
        ["bash", "-c", "exec -a ') 1 (' sleep 9"],
        stdout=subprocess.DEVNULL,
    ) as process:
        time.sleep(0.3)
        young = running_for(process.pid)
        process.kill()
    assert own is not None
    assert young is not None
    assert 0.2 < young < own
