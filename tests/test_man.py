"""The manual pages: what a formatter makes of them, and what they are called."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.conftest import SOURCE
from wc_cli import table

PAGES = sorted((SOURCE.parent / "docs/man").iterdir())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.name))
def test_groff_has_nothing_to_complain_of(page: str) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed: the manual pages are NOT tested")
    words = ["groff", "-k", "-man", "-ww", "-Tutf8", "-P-cbou", str(page)]
    done = subprocess.run(words, capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert b"SYNOPSIS" in done.stdout


def test_the_manual_page_of_the_system_stays_visible() -> None:
    names = [page.name for page in PAGES]
    assert names == ["wc-cli.1", "wc-observe.1", "wc-statusline.1"]


def test_every_command_has_its_place_in_the_manual() -> None:
    text = PAGES[0].read_text().replace("\\-", "-")
    missing = [name for name in table.COMMANDS if f"\n.SS wc {name}" not in text]
    assert missing == []
