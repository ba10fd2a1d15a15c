"""``WATERCOOLER_DEBUG`` for commands: one line for each in the store's
``.local/debug.log``. Failing to write it never fails the command."""

from __future__ import annotations

import contextlib
import os
import time

from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import durable
from wc_cli.run import table
from wc_cli.run.options import FLAG, NUMBER, parse
from wc_cli.run.output import remark
from wc_core.base import errors, ulid
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.ledger import debugging
from wc_core.ledger.git import discovery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from wc_cli.run.options import Param

# At most two files of this size.
_MOST = 1 << 20


def run_recorded(run: Callable[[Sequence[str]], int], argv: Sequence[str]) -> int:
    """Run a command line and record its result. Returns its exit code."""
    mode = debugging.mode(os.environ)
    if mode.complaint:
        remark(f"wc: {mode.complaint}")
    if not mode.on:
        return run(argv)
    begun = time.perf_counter_ns()
    code = run(argv)
    fields = {
        "id": ulid.encode(int.from_bytes(os.urandom(16)))[-8:],
        "action": _action(argv),
        "arguments": dict(_arguments(argv, bodies=mode.bodies)),
        "duration_ms": (time.perf_counter_ns() - begun) // 10_000 / 100,
        "outcome": _outcome(code),
        "exit": code,
        "pid": os.getpid(),
    }
    with contextlib.suppress(WcError, OSError, ValueError):
        _append_line(fields, os.getcwd())
    return code


def note_problem(action: str, problem: str, folder: str) -> None:
    """Record a problem that the user does not see."""
    if not debugging.mode(os.environ).on:
        return
    with contextlib.suppress(WcError, OSError, ValueError):
        fields = {"action": action, "problem": problem, "pid": os.getpid()}
        _append_line(fields, folder)


def _action(argv: Sequence[str]) -> str:
    """Return the command. Any other first word may be private and is not recorded."""
    name = argv[0] if argv else ""
    return f"wc {name}" if name in {*table.COMMANDS, *table.ALIASES} else "wc ?"


def _arguments(argv: Sequence[str], *, bodies: bool) -> Iterator[tuple[str, Any]]:
    """Yield the arguments that are not defaults, with their names."""
    declared = table.load(argv[0]) if argv else None
    options = parse(declared.options, argv[1:]) if declared is not None else None
    if declared is None or options is None:
        yield "words", debugging.shown_argument(" ".join(argv[1:]), bodies)
        return
    for param in declared.options.params():
        value = getattr(options, param.name)
        if value != param.default:
            shorten = debugging.shown_word if _is_a_word(param) else None
            yield (
                param.name,
                shorten(value) if shorten else _safe_text(value, bodies=bodies),
            )


def _is_a_word(param: Param) -> bool:
    """Return whether it takes a name or a number, and never free text."""
    return bool(param.complete) or param.kind in {FLAG, NUMBER}


def _safe_text(value: Any, *, bodies: bool) -> Any:
    words = " ".join(value) if isinstance(value, tuple) else value
    return debugging.shown_argument(words, bodies)


def _outcome(code: int) -> str:
    """Return ``ok``, the code of the error, or ``other``."""
    codes = {error.exit_code: error.code for error in WcError.__subclasses__()}
    return {0: "ok", errors.WcError.exit_code: "INTERNAL", **codes}.get(code, "other")


def _append_line(fields: dict[str, Any], folder: str) -> None:
    """Append the line. A file that is full is renamed first."""
    place = discovery.find(folder, os.environ, missing_ok=True)
    layout = Layout(place.root)
    if not os.path.isdir(layout.local):
        return  # nothing was ever written to a store here
    line = debugging.log_line({**fields, "store": place.root}, now_ms()).encode()
    path = layout.debug_log
    with contextlib.suppress(FileNotFoundError):
        if os.lstat(path).st_size + len(line) > _MOST:
            durable.move(path, f"{path}.1", layout.root)
    durable.touch(path, layout.root)
    durable.append_unflushed(path, line, layout.root)
