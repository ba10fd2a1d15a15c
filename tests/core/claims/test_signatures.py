"""Whose signature makes a claim count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wc_core.base.layout import Layout
from wc_core.edits.claims import signatures

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("signer", "holder", "counts"),
    [
        ("pat@example.org", "Codex@login (Pat)", True),
        ("Pat", "Codex@login (pat)", True),
        ("pat@example.org", "Codex (pat@example.org)", True),
        ("Pat Doe", "Codex@login (Pat Doe)", True),
        ("Pat Doe <pd@example.org>", "Codex@login (Pat Doe)", True),
        ("Pat Doe <pd@example.org>", "Codex@login (pd)", True),
        ("Pat Doe <pd@example.org>", "Codex@login (PD@example.org)", True),
        ("pat@example.org", "Pat", True),
        ("pat@example.org", "Codex@login (patricia)", False),
        ("pat@example.org", "Codex@login (example.org)", False),
        ("pat@example.org", "Codex@pat (Ann)", False),
        ("pat@example.org", "pat (Ann)", False),
        ("*@example.org", "Codex (Pat)", False),
        ("<pat@example.org>", "Codex (Pat)", True),
        ("Codex", "Codex (Pat)", False),
        ("@", "Codex (@)", True),
        ("", "Codex (Pat)", False),
        ("<>", "Codex (Pat)", False),
    ],
)
def test_the_signer_is_the_person_of_the_holder(
    signer: str,
    holder: str,
    counts: bool,  # noqa: FBT001
) -> None:
    refusal = signatures.refusal(signatures.GOOD, signer, holder)
    assert (refusal == "") is counts


@pytest.mark.parametrize("status", ["N", "U", "E", "X", "Y", "R", "B", "", "?"])
def test_no_other_signature_counts(status: str) -> None:
    assert signatures.refusal(status, "Pat", "Codex (Pat)")


def test_the_state_of_the_signers(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path))
    assert not signatures.is_current(layout, "")
    assert signatures.is_current(layout, "git:0")
    assert not signatures.is_current(layout, "store:0")
    (tmp_path / "allowed_signers").write_text("pat ssh-ed25519 AAAA\n")
    assert not signatures.is_current(layout, "git:0")
    assert not signatures.is_current(layout, "store:0")
