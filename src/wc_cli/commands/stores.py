"""The commands about the store: creating it, and breaking a lock."""

from __future__ import annotations

import os

from wc_cli.ledger.store import lockowners, locks
from wc_cli.ledger.sync.firstcontact import INIT_SECONDS
from wc_cli.run.options import Options, argument, command, flag
from wc_cli.run.output import say, say_json
from wc_core.base.errors import ConflictError
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.ledger.git.discovery import StoreMissingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.ledger.store.lockowners import LockOwners
    from wc_cli.run.context import Context


class InitOptions(Options):
    """Create or adopt the store of this repository."""

    push: bool = flag("--push", help="Push it as well; later pushes are automatic.")
    offline: bool = flag("--offline", help="Do not ask the remote for threads.")


class BreakLockOptions(Options):
    """Break the lock of a thread whose holder is gone. Only for file systems that do
    not release the locks of dead processes."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    force: bool = flag("--force", help="Break it; otherwise only show who holds it.")


@command(InitOptions)
def init(context: Context, options: InitOptions) -> None:
    """Create or adopt the store."""
    if not options.offline:
        _ask_remote(context)
    existed = context.ensure_store(missing_ok=True)
    writer = context.writer(is_asked=True)
    writer.prepare_store()
    pushed = _push_store(context) if options.push else None
    threads = len(writer.reader.topics())
    if options.json:
        kind = context.place.kind
        fields = {"store": context.store, "kind": kind, "threads": threads}
        say_json(fields if pushed is None else {**fields, "pushed_to": pushed})
        return
    word = "The store was already there" if existed else "The store is ready"
    say(f"{word}: {context.store} ({counted(threads, 'thread')})")
    if pushed is not None:
        say(one_line(f"{pushed} has it; new entries are pushed in the background."))


def _ask_remote(context: Context) -> None:
    """Fetch the threads that a remote has, if there are none here."""
    try:
        context.first_contact(INIT_SECONDS)
    except StoreMissingError:
        return  # its threads are on the branch


def _push_store(context: Context) -> str:
    """Sync the store with its remote, which has its branch from then on. Returns the
    remote's name."""
    from wc_cli.commands import sync  # 30 ms, only with --push

    return sync.exchange_once(context).remote


@command(BreakLockOptions)
def break_lock(context: Context, options: BreakLockOptions) -> None:
    """Break the lock of a thread."""
    reader = context.reader
    topic = reader.find(options.topic)
    path, root = reader.layout.lock(topic), reader.layout.root
    handle = locks.try_acquire(path, root)
    if handle is None:
        holder = lockowners.current_holder(path)
        allowed = context.env.get("WATERCOOLER_ALLOW_BREAK_LOCK") == "1"
        check_breakable(
            f"{topic} is being written by {holder}.",
            lockowners.lock_owners(path),
            f"WATERCOOLER_ALLOW_BREAK_LOCK=1 wc break-lock {topic} --force",
            agreed=options.force and allowed,
        )
        locks.break_lock(path, root)
        text = f"The lock of {topic} is broken; it was held by {holder}."
    else:
        os.close(handle)
        text = f"Nobody holds the lock of {topic}: there is nothing to break."
    if options.json:
        say_json({"topic": topic, "broken": handle is None})
        return
    say(one_line(text))


def check_breakable(
    message: str, owners: LockOwners, command: str, *, agreed: bool
) -> None:
    """Raise ConflictError with this message unless the lock may be broken: no process
    on this machine holds it, and the user has ``agreed`` by ``command``."""
    if owners.pids:
        pids = " ".join(map(str, owners.pids))
        raise ConflictError(
            message,
            "That process runs on this machine: its lock is real. Wait for it, or "
            f"end it (kill {pids}); its lock ends with it.",
        )
    if owners.local:
        raise ConflictError(
            message,
            "It runs on this machine, as another user or in a container: this file "
            "system keeps no locks of processes that have ended. Wait for it.",
        )
    if not agreed:
        raise ConflictError(
            message, f"Make sure that this process is gone. Then: {command}"
        )
