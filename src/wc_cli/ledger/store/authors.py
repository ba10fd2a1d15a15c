"""The git authors of entries that await settling.

The process that settles the store commits the entries. It may belong to another agent
with another git configuration. So a writer records the author of its commit before it
appends the entry, in a line of ``.local/authors/<topic>``, which is removed with the
thread's marker. Like the marker, it is not flushed: after a power cut, the process that
settles commits as itself.

A client may hide the user's git configuration from the commands it runs. For these, the
store has a record of the user, see `wc_core.people.identity.userrecord`.
"""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.base.lean import contextlib, json
from wc_core.ledger.git import authorship
from wc_core.ledger.git.authorship import FORMATS, Authorship, Person, clean
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads.jsontext import dumps
from wc_core.people.identity import userrecord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository

_UNREADABLE = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError),
    RecursionError,
)
# Reserved by RFC 2606: mail to it reaches nobody, and it doesn't contain a machine's
# name.
_DOMAIN = "watercooler.invalid"


def current(
    layout: Layout, repository: Repository | None, env: Mapping[str, str]
) -> Authorship:
    """The authorship of a commit by this process. What git's configuration lacks comes
    from the user on record, and then from the system user."""
    configured = authorship.git_identity(repository, env)
    if configured.author.complete and configured.committer.complete:
        return configured
    recorded = userrecord.recorded_user(layout.root, env).user
    recorded_person = Person(clean(recorded.name), clean(recorded.email))
    fallback = recorded_person.or_else(_system_user(env))
    return configured._replace(
        author=configured.author.or_else(fallback),
        committer=configured.committer.or_else(fallback),
    )


def _system_user(env: Mapping[str, str]) -> Person:
    name = clean(env.get("USER") or env.get("LOGNAME") or "") or "watercooler"
    address = "".join(letter if letter.isalnum() else "-" for letter in name)
    return Person(name, f"{address}@{_DOMAIN}")


def record_user(
    layout: Layout, repository: Repository | None, env: Mapping[str, str]
) -> None:
    """Record the user in git's configuration, in case a client hides it later."""
    user = userrecord.configured_user(repository, env)
    if userrecord.is_news(user, userrecord.recorded_user(layout.root, {}), env):
        data = f"{dumps(user.fields())}\n".encode()
        # A convenience: without it, commits and tags name the system user.
        with contextlib.suppress(WcError, OSError):
            private = private_layout(layout)
            durable.make_private_folder(private.root)
            durable.replace(private.git_user, data, private.root)


def record(layout: Layout, topic: str, entry_id: str, author: Authorship) -> None:
    """Record the author of an entry that is about to be written. The caller holds the
    thread's lock. A failure does not lose the entry: see `current`."""
    line = dumps({"entry": entry_id, **author._asdict()})
    path = layout.authors(topic)
    with contextlib.suppress(WcError):
        durable.make_folder(os.path.dirname(path), layout.root, flush=False)
        durable.touch(path, layout.root)
        durable.append_unflushed(path, f"{line}\n".encode(), layout.root)


def recorded(layout: Layout, topic: str) -> dict[str, Authorship]:
    """The recorded authors of a thread's entries, by the entry's id."""
    authors: dict[str, Authorship] = {}
    try:
        lines = (read_plain(layout.authors(topic), layout.root) or b"").splitlines()
    except OSError:
        return authors
    for line in lines:
        with contextlib.suppress(*_UNREADABLE):
            fields = json.loads(line)
            authors[str(fields["entry"])] = _from_fields(fields)
    return authors


def _from_fields(fields: dict[str, Any]) -> Authorship:
    """The authorship in a recorded line. Raises one of `_UNREADABLE`, for example if
    git would refuse it."""
    author, committer = (
        Person(*map(clean, fields[role])) for role in ("author", "committer")
    )
    key, signing = fields["key"], fields["format"]
    if not (author.complete and committer.complete and isinstance(key, str)):
        raise ValueError(fields)
    return Authorship(author, committer, key, signing if signing in FORMATS else "")


def forget(layout: Layout, topic: str) -> None:
    """Remove the recorded authors of a thread whose entries are all committed. The
    caller holds the thread's lock."""
    durable.remove(layout.authors(topic), layout.root)
