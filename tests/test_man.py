"""The manual pages: what a formatter makes of them, and what they are called."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.conftest import SOURCE
from wc_cli.run import table
from wc_cli.run.help.command import examples

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


def test_every_option_has_its_place_in_the_manual() -> None:
    text = PAGES[0].read_text().replace("\\-", "-")
    shared = text.partition("\n.SH GLOBAL OPTIONS\n")[2]
    for name in table.COMMANDS:
        declared = table.load(name)
        assert declared is not None
        start = re.search(rf"^\.SS wc {name}(?: .*)?$", text, re.MULTILINE)
        assert start is not None
        section = text[start.end() :].partition("\n.S")[0]
        for param in declared.options.params():
            for flag in param.flags:
                assert f"\\fB{flag}\\fR" in section + shared, (name, flag)


def test_remarks_have_paragraphs_and_name_the_files_they_link_to() -> None:
    text = PAGES[0].read_text().replace("\\-", "-")
    assert "\n.PP\nWith \\fB--kind\\fR, the entry is a remark" in text
    assert "(docs/daily.md)" in text
    named = set(re.findall(r"\((docs/[^)]*)\)", text))
    assert [name for name in named if not (PAGES[0].parents[2] / name).is_file()] == []


def test_the_manual_has_the_examples_and_other_names_of_every_command() -> None:
    text = PAGES[0].read_text().replace("\\-", "-").replace("\\(aq", "'")
    text = text.replace("\\e", "\\")
    for name in table.COMMANDS:
        missing = [line for line in examples(name) if f"\n{line}\n" not in text]
        assert missing == []
    assert "Also written \\fBwc ls\\fR or \\fBwc status\\fR." in text
