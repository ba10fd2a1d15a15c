"""tmux: whether a person is looking at a repository in it, and messages in its status
line."""

from __future__ import annotations

from wc_cli.bridges.notify.programs import ProgramEnd, run
from wc_core.base.programs import find_program
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.repository import Repository

_FORMAT = "#{client_flags}\t#{client_name}\t#{pane_current_path}"
_FIELDS = 3
_MILLISECONDS = "8000"


class TmuxClient(NamedTuple):
    """A terminal attached to tmux, the folder of its active pane, and whether the
    terminal reports that it has the focus."""

    name: str
    folder: str
    focused: bool


def clients(env: Mapping[str, str]) -> list[TmuxClient]:
    """The attached terminals. Without tmux's option ``focus-events`` none of them is
    known to have the focus."""
    lines = _ask(env, "list-clients", "-F", _FORMAT).output.splitlines()
    rows = [line.split("\t", _FIELDS - 1) for line in lines]
    rows = [row for row in rows if len(row) == _FIELDS]
    if not rows:
        return []
    knows_focus = _ask(env, "show-options", "-sv", "focus-events").output == "on\n"
    return [
        TmuxClient(name, folder, knows_focus and "focused" in flags.split(","))
        for flags, name, folder in rows
    ]


def is_looking_at(env: Mapping[str, str], checkout: Repository | None) -> bool:
    """Return whether a focused terminal shows a pane in a worktree of the repository;
    false if unknown."""
    if checkout is None or not find_program(env, "tmux"):
        return False
    for client in clients(env):
        pane = repository.find(client.folder) if client.focused else None
        if pane is not None and pane.common == checkout.common:
            return True
    return False


def show_message(env: Mapping[str, str], client: TmuxClient, text: str) -> str:
    """Show a text in the status line of a client. Returns what went wrong, if
    anything."""
    # display-message expands formats, and runs the commands in some of them.
    plain = text.replace("#", "").replace("%", "")
    words = ("-c", client.name, "-d", _MILLISECONDS, "--", plain)
    return _ask(env, "display-message", *words).problem


def _ask(env: Mapping[str, str], *words: str) -> ProgramEnd:
    program = find_program(env, "tmux")
    if not program:
        return ProgramEnd(1, problem="there is no tmux")
    socket = env.get("TMUX", "").partition(",")[0]
    return run([program, *(("-S", socket) if socket else ()), *words], env)
