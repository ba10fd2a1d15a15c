"""The protocol's conformance suite against the server over HTTP.

Most of its scenarios call tools, prompts and resources of a server that is made
for the suite (`test_simple_text`, `test://static-text` ...). A product has none
of them: what fails for that reason is in `conformance-expected-failures.toml`,
check by check, each with the reason. Anything else that fails, and anything in
that file that passes, fails the test.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.clients import installing

if TYPE_CHECKING:
    from tests.clients.conftest import Place

EXPECTED = Path(__file__).with_name("conformance-expected-failures.toml")
REVISIONS = ("2025-11-25", "2026-07-28")
FEWEST = 40
FINE = {"SUCCESS", "INFO", "SKIPPED"}


class Check(NamedTuple):
    """One check of the suite: where it is made, its name, what came out."""

    scenario: str
    name: str
    fine: bool
    told: str


def checks(results: Path) -> list[Check]:
    """Every check that the suite has written down."""
    found = []
    for file in results.glob("server-*/checks.json"):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", file.parent.name)
        found += [
            Check(scenario, one["id"], one["status"] in FINE, one.get("errorMessage"))
            for one in json.loads(file.read_text())
        ]
    return found


@pytest.mark.long
def test_only_what_a_product_has_not_fails(
    place: Place, address: str, tmp_path: Path
) -> None:
    programs = installing.agent("@modelcontextprotocol/conformance")
    expected = tomllib.loads(EXPECTED.read_text())
    left = {(where, name) for where, names in expected.items() for name in names}
    for revision in REVISIONS:
        asked = ("--url", address, "--suite", "all", "--spec-version", revision)
        results = ("-o", str(tmp_path / revision))
        place.run(programs.words("conformance", "server", *asked, *results))
        made = checks(tmp_path / revision)
        assert sum(one.fine for one in made) > FEWEST, (revision, made)
        for one in made:
            reason = expected.get(one.scenario, {}).get(one.name)
            assert one.fine == (reason is None), (revision, one, reason)
        left -= {(one.scenario, one.name) for one in made}
    assert not left, "no longer in the suite"


def test_each_failure_that_is_expected_has_a_reason() -> None:
    expected = tomllib.loads(EXPECTED.read_text())
    reasons = [reason for names in expected.values() for reason in names.values()]
    assert all(reason.strip() for reason in reasons)
