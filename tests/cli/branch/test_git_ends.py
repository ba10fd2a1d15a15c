"""How git ends: by itself, or killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wc_cli.ledger.branch.git import Git, GitError, GitKilledError

if TYPE_CHECKING:
    from tests.conftest import Machine


@pytest.mark.parametrize(
    ("signal", "kind"), [("PIPE", GitError), ("KILL", GitKilledError)]
)
def test_only_a_broken_pipe_lets_git_tidy_up(
    machine: Machine, signal: str, kind: type[GitError]
) -> None:
    git = Git(str(machine.repo().path), machine.env)
    script = f"alias.end=!kill -{signal} $PPID; sleep 0.1"
    with pytest.raises(GitError) as caught:
        git.run("-c", script, "end")
    assert type(caught.value) is kind
