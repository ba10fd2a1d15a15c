"""A few hundred cases of everything that `fuzzer` does; by hand it does as many
as it is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests import amounts
from tests.contract import fuzzer
from tests.contract.fuzzed_words import Words
from tests.contract.fuzzer import FuzzError, Run, fuzz

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

pytestmark = pytest.mark.usefixtures("unmeasured")

# Cases that cost a tenth of a second, or a thousandth.
CASES = {
    "codec": 250,
    "markdown": 150,
    "meta": 300,
    "cursor": 300,
    "settings": 300,
    "git": 100,
    "times": 2000,
    "text": 1000,
    "words": 150,
    "statusline": 50,
}
SEED = amounts.seed()
# No command takes a second; other work may slow it down.
SECONDS = 20


@pytest.mark.parametrize("target", fuzzer.TARGETS)
def test_nothing_crashes_hangs_or_loses_what_is_good(
    tmp_path: Path, target: str
) -> None:
    fuzz(target, Run(CASES[target], SEED), tmp_path)


def test_every_command_that_is_fuzzed_ends(tmp_path: Path) -> None:
    words = Words()
    for argv in words.ordinary():
        try:
            with fuzzer.ending(SECONDS):
                words.run(argv, tmp_path)
        except fuzzer.HangError:
            pytest.fail(f"wc {' '.join(argv)} does not end: add it to _ENDLESS")


@pytest.fixture
def faulty() -> Iterator[str]:
    """A target that does not do what it should."""

    def fail(random: Random, _: Path) -> None:
        assert random.randrange(5)

    fuzzer.TARGETS["faulty"] = fail
    yield "faulty"
    del fuzzer.TARGETS["faulty"]


def test_a_failure_names_the_case_that_fails_again(tmp_path: Path, faulty: str) -> None:
    with pytest.raises(FuzzError) as caught:
        fuzz(faulty, Run(1000), tmp_path)
    found = re.search(r"--seed 1 --first (\d+) --cases 1 faulty", str(caught.value))
    assert found
    with pytest.raises(FuzzError):
        fuzz(faulty, Run(1, "1", int(found[1])), tmp_path)
