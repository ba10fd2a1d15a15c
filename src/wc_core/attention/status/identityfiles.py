"""Who works in a worktree: ``.local/me/<worktree>/<who>`` of a store.

It has a file for each who ran ``wc`` there, for ``wc whoami``, the radar and the
coverage of guards, and ``=wrote`` for the agent that wrote there last. The worktree is
the name of its folder in git's ``worktrees``, or `MAIN_WORKTREE`. ``<who>`` is the key
in WATERCOOLER_AGENT; where that is not set, the agent we run inside, ``=claudecode``;
else ``=default``, a person.

As a person is the same one everywhere, their file of the main worktree serves where
there is none. Of an agent with a plain seat in WATERCOOLER_SEAT there is one for each,
``=codex@left``, ``=codex@a1b2c3`` for a session: several may share a worktree. The
line is the key, ``codex@fix%2Fui(pat)``; an older wc wrote more of them.
"""

from __future__ import annotations

import os

from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import key_of, safe_name
from wc_core.base.lean import contextlib
from wc_core.base.names import Directory, fold
from wc_core.base.text import consists_of
from wc_core.people.identity import environment
from wc_core.people.identity.resolve import SESSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout
    from wc_core.people.identity.resolve import Identity

DEFAULT_NAME = "=default"
MAIN_WORKTREE = "=main"
# In a worktree's folder: the key of the agent that wrote there last.
LAST_WRITER = "=wrote"
_MAX_BYTES = 1024

# Other seats share a file, which describes the last one that wc ran in.
_MAX_SEAT = 64
_SEAT_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789_-"

_PLAIN = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", " \t\n"
)


def asked_name(agent: str) -> str:
    """Returns the file name for a value of WATERCOOLER_AGENT: without blanks and
    ASCII capitals, made safe. A shell can compute it."""
    return safe_name(agent.translate(_PLAIN)) if agent.strip(" \t\n") else DEFAULT_NAME


def who_name(source: str, env: Mapping[str, str]) -> str:
    """Returns the file name for an identity that the rule ``source`` found in
    ``env``."""
    if source == "WATERCOOLER_AGENT":
        name = asked_name(env.get(source, ""))
    elif agent := dict(environment.agents_in(env)).get(source):
        name = f"={fold(agent)}"
    else:
        return DEFAULT_NAME
    seat = env.get("WATERCOOLER_SEAT", "")
    seat = environment.session_end(env) if seat == SESSION else seat
    plain = consists_of(seat, _SEAT_CHARACTERS, _MAX_SEAT)
    return f"{name}@{seat}" if plain else name


def identity_files(
    worktree: str, identity: Identity, directory: Directory, env: Mapping[str, str]
) -> dict[str, bytes]:
    """Returns the file that defines "me" in ``worktree``, by its path relative to
    ``.local/``.

    ``env`` is where ``identity`` was found. An identity given for one command only
    (``--as``) must not be stored. Returns nothing for a ``worktree`` that is not a
    single file name.
    """
    if worktree in {"", ".", ".."} or "/" in worktree or "\0" in worktree:
        return {}
    data = f"{safe_name(directory.key(identity.name))}\n".encode()
    return {f"me/{worktree}/{who_name(identity.source, env)}": data}


def keys_in(layout: Layout, worktree: str) -> dict[str, str]:
    """Returns the key in each file of ``worktree``, by the name of the file, as far as
    they can be read."""
    folder = f"{layout.local}/me/{worktree}"
    keys = {}
    with contextlib.suppress(WcError):
        for name in names_in(folder, layout.root):
            with contextlib.suppress(OSError):
                data = read_plain(f"{folder}/{name}", layout.root, _MAX_BYTES) or b""
                keys[name] = key_of(os.fsdecode(data.partition(b"\n")[0]))
    return keys
