"""Whom a commit names, compared with whom git itself names."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import Git
from wc_core.ledger.git import repository
from wc_core.ledger.git.authorship import Authorship, Person, clean, git_identity

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PAT = "[user]\n\tname = Pat\n\temail = pat@example.org\n"
AUTHOR = "[author]\n\tname = Writer\n\temail = writer@example.org\n"
COMMITTER = "[committer]\n\tname = Machine\n"


def _ask_git(folder: Path, env: Mapping[str, str], role: str) -> str:
    """Whom git names, without the date; empty if it refuses."""
    done = subprocess.run(
        ["git", "var", f"GIT_{role}_IDENT"],
        cwd=folder,
        env=env,
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout.rpartition("> ")[0] + ">" * (not done.returncode)


@pytest.mark.parametrize("configured", ["", PAT, AUTHOR, PAT + AUTHOR + COMMITTER])
@pytest.mark.parametrize(
    "env",
    [
        {},
        {"GIT_AUTHOR_NAME": "Once", "GIT_AUTHOR_EMAIL": "once@example.org"},
        {"GIT_COMMITTER_NAME": "Once"},
        {"EMAIL": "mail@example.org"},
        {"GIT_CONFIG_GLOBAL": "/dev/null"},
        {"GIT_AUTHOR_NAME": " .Dr. O'Neil, <x>\t;", "EMAIL": "<a@b>"},
    ],
)
def test_a_commit_names_whom_git_names(
    tmp_path: Path, configured: str, env: Mapping[str, str]
) -> None:
    git = Git(tmp_path / "home")
    top = git.repository(tmp_path / "app")
    (git.home / ".gitconfig").write_text(configured)
    base = {k: v for k, v in git.env.items() if not k.endswith(("_NAME", "_EMAIL"))}
    full = {**base, **env}
    ours = git_identity(repository.find(str(top)), full)
    for role, person in (("AUTHOR", ours.author), ("COMMITTER", ours.committer)):
        # What is unknown to us git guesses, or refuses.
        if person.complete:
            assert str(person) == _ask_git(top, full, role)
        else:
            assert "GIT_CONFIG_GLOBAL" in env or configured in {"", AUTHOR}


def test_the_variables_of_wc_come_first(tmp_path: Path) -> None:
    git = Git(tmp_path / "home")
    top = git.repository(tmp_path / "app")
    (git.home / ".gitconfig").write_text(
        f"{PAT}\tsigningKey = ~/.ssh/id.pub\n[gpg]\n\tformat = ssh\n"
    )
    env = {**git.env, "WATERCOOLER_GIT_AUTHOR": "Bot"}
    authorship = git_identity(repository.find(str(top)), env)
    bot = Person("Bot", "a@example.org")
    assert authorship == Authorship(bot, bot, "~/.ssh/id.pub", "ssh")
    env = {"HOME": git.env["HOME"], "GIT_CONFIG_NOSYSTEM": "1"}
    assert git_identity(None, env).author == Person("Pat", "pat@example.org")


def test_an_unknown_format_of_signatures_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text("[gpg]\n\tformat = wax\n")
    env = {"HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    assert git_identity(None, env) == Authorship(Person(), Person())


@given(st.text())
def test_what_is_clean_stays_as_it_is(text: str) -> None:
    result = clean(text)
    assert clean(result) == result
    assert not set(result) & set("<>\n\0")
