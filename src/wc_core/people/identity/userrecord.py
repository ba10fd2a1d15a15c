"""The record of the user that git is configured for.

Clients may hide git's configuration from the commands that they run: Gemini CLI sets
``GIT_CONFIG_GLOBAL=/dev/null``, others a home folder of their own. So a command that
sees the user writes a record, ``git-user.json`` in the private folder
(`wc_core.ledger.git.private`), which no push fills, and
``wc install`` one into ``~/.watercooler/install``, for stores without one. Commands,
hooks, the prompt and the server then give an agent the same tag, whether they see
git's configuration or not.
"""

from __future__ import annotations

import os

from wc_core.base.files import read_plain
from wc_core.base.layout import Layout
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config
from wc_core.ledger.git.authorship import Person
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.ledger.git.repository import Repository

FILE = "git-user.json"
_KEYS = ("user.name", "user.email")
_UNREADABLE = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError),
    RecursionError,
)


class UserRecord(NamedTuple):
    """The user that git is, or was, configured for. ``systemwide`` if only the
    configuration of the whole machine names them."""

    user: Person = Person()
    systemwide: bool = False

    def fields(self) -> dict[str, Any]:
        """The record's file content."""
        return {
            "uid": os.getuid(),
            **self.user._asdict(),
            "systemwide": self.systemwide,
        }


NOBODY = UserRecord()


def machine_path(env: Mapping[str, str]) -> str:
    """The file of the record for all stores; empty without a home folder."""
    home = env.get("HOME", "")
    return f"{home}/.watercooler/install/{FILE}" if home else ""


def recorded_user(root: str, env: Mapping[str, str]) -> UserRecord:
    """The user on record for the store at ``root``, otherwise for this machine; no one
    if that was another user of this machine."""
    record = NOBODY
    if root:
        private = private_layout(Layout(root))
        record = _read(private.git_user, private.root)
    path = "" if record.user.name else machine_path(env)
    return _read(path, "") if path else record


def _read(path: str, root: str) -> UserRecord:
    try:
        fields = json.loads(read_plain(path, root) or b"null")
        if fields["uid"] != os.getuid():
            return NOBODY
        user = Person(fields["name"].strip(), fields["email"].strip())
        return UserRecord(user, fields.get("systemwide") is True)
    except _UNREADABLE:
        return NOBODY


def configured_user(
    repository: Repository | None, env: Mapping[str, str]
) -> UserRecord:
    """The user that git is currently configured for; no one if no name is configured.

    The configuration of the whole machine counts last, after any record: it is what
    remains if a client hides the user's own.
    """
    user = _user_in(repository, without_system(env))
    if user.complete:
        return UserRecord(user)
    with_system = _user_in(repository, env)
    return UserRecord(with_system, not user.name) if with_system.name else NOBODY


def _user_in(repository: Repository | None, env: Mapping[str, str]) -> Person:
    values = config.get_all(_KEYS, repository, env)
    return Person(*(values[key].strip() for key in _KEYS))


def without_system(env: Mapping[str, str]) -> Mapping[str, str]:
    """The environment in which git ignores the configuration of the whole machine."""
    return {**env, "GIT_CONFIG_NOSYSTEM": "1"}


def is_news(user: UserRecord, record: UserRecord, env: Mapping[str, str]) -> bool:
    """Whether the currently configured user should replace the one on record.

    A record of the user's own configuration stays if only that of the whole machine
    remains, or if another file was put in its place.
    """
    if not user.user.name or user == record:
        return False
    replaced = user.systemwide or "GIT_CONFIG_GLOBAL" in env
    return not record.user.name or record.systemwide or not replaced
