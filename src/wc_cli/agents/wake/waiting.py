"""``wc wait --hook wake``: the process that a client starts when a turn ends.

The process records in the session's file that it waits, checks whether something
arrived, and otherwise executes a `sleeper`, which executes it again when something
changes. A later process of the same session puts its own token into the file, which
ends this one; a prompt's hook empties the file.

In a repository without a store it waits for the first write, which makes one.
"""

from __future__ import annotations

import math
import os
import sys
import time
from contextlib import suppress

from wc_cli.agents.briefing import dialects, sessions, turns
from wc_cli.agents.wake import calling, choosing, sleeper
from wc_cli.ledger import spawn
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import durable
from wc_cli.run import ancestors
from wc_cli.run.context import Context
from wc_core.attention.status.balls import Balls, folders_of
from wc_core.attention.wake import waiters
from wc_core.attention.wake.waiters import Waiter
from wc_core.base import processes
from wc_core.base.errors import WcError
from wc_core.base.files import age_of
from wc_core.base.layout import BRANCH, EARLY, Layout
from wc_core.base.programs import own_words
from wc_core.ledger.git import discovery, seats
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git.discovery import BRANCH_STORE
from wc_core.ledger.git.private import private_layout
from wc_core.people.identity.resolve import Asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

    from wc_cli.agents.briefing.hook import SpeakerOfHook
    from wc_cli.agents.wake.choosing import Arrived

# The clients that can be woken, and where `wc wait --hook wake` keeps running: as the
# process that the client started, or beside it.
STAYS, DETACHES = "stays", "detaches"
CLIENTS: Mapping[str, str] = {"claude": STAYS, "codex": DETACHES, "opencode": STAYS}
EVENT = "wake"
# The hook that reminds of balls runs at the same time, and may make the agent continue.
_HOOK_SECONDS = 1.5
_GOES_ON_NS = 2_000_000_000
_INPUT_SECONDS = 5.0
_RETRY_SECONDS = 60.0
# How often to look for a store that git does not know, such as one in the tree.
_STORE_SECONDS = 60.0
# A waiter's file has room for this many.
_MOST_HELD = 500
_LEAST_SECONDS, _MOST_SECONDS = 1.0, 24 * 3600.0


def wait_in_hook(context: Context, options: SpeakerOfHook) -> None:
    """Wait for the session that the client names on standard input. Returns if there is
    nothing to wait for, or if another client runs the hook; otherwise it never
    returns."""
    if dialects.client_of_hook(options.client, context.env) != options.client:
        return
    from wc_cli.agents.briefing import hook  # 8 ms, once, not each time that it wakes

    data = hook.read_input(_INPUT_SECONDS, hook.MAX_BYTES)
    hook_input = dialects.parse_input(data)
    context = hook.session_context(context, options, hook_input)
    if not _is_session(hook_input) or _ends_by_itself(context.env):
        return
    place = context.place
    layout = Layout(place.root)
    if not place.exists:
        if place.kind != BRANCH_STORE:
            return
        layout = waiters.early(place.root)
        durable.make_folder(layout.root, flush=False)
    with suppress(WcError, OSError):
        # Not every turn begins with a prompt.
        hook.note_turn(context, options.client, hook_input.session)
    waiter = _register(context, layout, options.client, hook_input)
    turns.sweep(layout, waiter, now_ms())
    words = (layout.root, waiter.name, waiter.token, options.as_name, options.seat)
    if CLIENTS[options.client] == DETACHES:
        spawn.start_detached(
            spawn.Task("wc_cli.agents.wake.waiting", words), context.env
        )
        return
    os.environ.update(context.env)
    _run(*words)


def _ends_by_itself(env: Mapping[str, str]) -> bool:
    """Return whether the session has only one prompt, as with ``claude -p``, which
    would wait half a minute for its hooks."""
    return env.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def _is_session(hook_input: dialects.HookInput) -> bool:
    """Return whether the input is from a session that can be called: not a sub-agent,
    and with a name that can be an argument of the client."""
    session = hook_input.session
    is_name = session.isprintable() and not session.startswith("-")
    return bool(session) and is_name and not hook_input.subagent


def _register(
    context: Context, layout: Layout, client: str, hook_input: dialects.HookInput
) -> Waiter:
    """Record that this process now waits for the balls of a session."""
    pid = ancestors.client_process()
    keys = folders_of(context.viewer)
    waiter = Waiter(
        client,
        hook_input.session,
        context.viewer.identity.author,
        keys,
        context.cwd,
        pid,
        processes.started(pid) or 0,
        token=f"{os.getpid()}.{time.time_ns()}",
        since_ns=time.time_ns(),
        again=hook_input.again,
        person=context.identity.behind,
        held=_held(context, keys),
    )
    turns.save(layout, waiter)
    return waiter


def _held(context: Context, keys: Sequence[str]) -> tuple[str, ...] | None:
    """Return the balls of a session for its file; ``None`` if they are too many, or
    cannot be listed."""
    if not context.place.exists:
        return ()
    try:
        held = Balls(context.reader, context.viewer.directory).held(keys)
    except WcError:
        return None
    return tuple(ball.name for ball in held) if len(held) <= _MOST_HELD else None


def main() -> None:
    """Run with the arguments ``ROOT NAME TOKEN AS SEAT``."""
    root, name, token, *speaker = sys.argv[1:]
    _run(root, name, _own_token(Layout(root), name, token), *speaker)


def _own_token(layout: Layout, name: str, token: str) -> str:
    """Return the token with this process's id: if the hook that made it has ended, this
    process takes its place."""
    own = f"{os.getpid()}.{token.partition('.')[2]}"
    waiter = waiters.load(layout, name)
    if own == token or waiter is None or waiter.token != token:
        return token
    try:
        turns.save(layout, waiter._replace(token=own))
    except WcError:
        return token
    return own


def _run(root: str, name: str, token: str, as_name: str, seat: str) -> NoReturn:
    """Wake the session, or sleep until something changes."""
    layout = Layout(root)
    waiter = waiters.load(layout, name)
    if waiter is None or waiter.token != token or not waiter.is_running:
        raise SystemExit(0)
    speaker = (as_name, seat)
    context = _context_of(waiter, *speaker)
    if root.endswith(EARLY) and root != context.place.root:
        waiter, layout = _await_store(context, layout, waiter, speaker)
        root = layout.root
    _await_hook(waiter.since_ns)
    if _goes_on(layout, waiter):
        if _is_current(layout, waiter):
            with suppress(WcError):
                turns.save(layout, waiter._replace(token=""))
        raise SystemExit(0)
    # Before checking: anything that arrives in the meantime changes it.
    with suppress(WcError, OSError):  # the worktree may be gone
        waiter = _with_names(context, layout, waiter)
    watched = [layout.line_stamp, *_seat_files(context)]
    before = sleeper.fingerprint(watched, private_layout(layout).wake_switch)
    try:
        status, again_ms = _wake(context, layout, waiter)
    except WcError:
        status, again_ms = (
            None,
            _RETRY_SECONDS * 1000,
        )  # the store is being replaced, say
    if status is not None:
        _end(status)
    seconds = min(again_ms / 1000, _next_look(context, layout))
    _sleep(waiter, (layout, watched, before), seconds, (root, name, token, *speaker))


def _context_of(waiter: Waiter, as_name: str, seat: str) -> Context:
    """Return the context that a command of the session's agent would have."""
    dialect = dialects.dialect_of(waiter.client)
    env = dialect.with_session(dict(os.environ), waiter.session)
    return Context(env, waiter.worktree, Asked(as_name, seat, dialect.agent))


def _await_store(
    context: Context, early: Layout, waiter: Waiter, speaker: tuple[str, str]
) -> tuple[Waiter, Layout]:
    """Record the session in the store, and return both; or sleep until there may be a
    store."""
    repository = context.place.repository
    if repository is None:
        raise SystemExit(0)
    folders = [f"{repository.common}/worktrees"]
    # One that git is still making: its lock there disappears when it is complete.
    checkouts = repositories.checkouts_of(repository, BRANCH)
    folders += [checkout.admin for checkout in checkouts if not checkout.finished]
    before = sleeper.fingerprint(folders, private_layout(early).wake_switch)
    place = None
    with suppress(WcError):
        place = discovery.find(waiter.worktree, context.env)
    if place is None or not place.exists:
        words = (early.root, waiter.name, waiter.token, *speaker)
        _sleep(waiter, (early, folders, before), _STORE_SECONDS, words)
    layout = Layout(place.root)
    # The keys may have changed: only a store has aliases.
    waiter = waiter._replace(keys=folders_of(context.viewer))
    turns.save(layout, waiter)
    # In this order: a prompt's hook may come meanwhile, and looks there first.
    if not _is_current(early, waiter):
        turns.save(layout, waiter._replace(token=""))
        raise SystemExit(0)
    turns.remove(early, waiter.name)
    return waiter, layout


def _end(status: int) -> NoReturn:
    """End at once: the recorded call takes place through the exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _await_hook(since_ns: int) -> None:
    """Sleep until the stop's other hook has answered. The clock may have been set back
    since then."""
    elapsed = (time.time_ns() - since_ns) / 1e9
    if 0 <= elapsed < _HOOK_SECONDS:
        time.sleep(_HOOK_SECONDS - elapsed)


def _goes_on(layout: Layout, waiter: Waiter) -> bool:
    """Return whether this stop's hook has made the agent continue: then the next stop
    starts a new wait."""
    path = sessions.path_of(layout, waiter.client, waiter.session)
    session = None if waiter.again else sessions.load(layout, path)
    if session is None or not session.kept_on_ns:
        return False
    return session.kept_on_ns > waiter.since_ns - _GOES_ON_NS


def _wake(context: Context, layout: Layout, waiter: Waiter) -> tuple[int | None, float]:
    """Wake the session if something arrived. Returns the exit status, or ``None`` with
    the milliseconds until the next check."""
    now = now_ms()
    choice = choosing.choose(context, waiter, now)
    if not choice.arrived:
        return None, choice.again_ms
    if not _is_current(layout, waiter):
        return 0, math.inf
    won = calling.claim(layout, waiter, context.viewer.key, choice.arrived, now)
    if not won:
        return None, choice.again_ms
    return _call(context, layout, waiter, won), choice.again_ms


def _call(context: Context, layout: Layout, waiter: Waiter, won: list[Arrived]) -> int:
    from wc_cli.agents.wake import text  # 20 ms, only when something arrived

    try:
        words = text.wake_text(context, won)
        if not _is_current(layout, waiter):
            calling.undo_claims(layout, won)
            return 0
        return calling.call(layout, waiter, won, words)
    except BaseException:
        calling.undo_claims(layout, won)
        raise


def _is_current(layout: Layout, waiter: Waiter) -> bool:
    """Return whether this process is still the waiting one: a prompt, or the next stop,
    may have come in the meantime."""
    current = waiters.load(layout, waiter.name)
    return current is not None and current.token == waiter.token


def _with_names(context: Context, layout: Layout, waiter: Waiter) -> Waiter:
    """Return the session under the names that its seat has now, and record them."""
    keys, agent = folders_of(context.viewer), context.viewer.identity.author
    renamed = waiter._replace(keys=keys, agent=agent)
    if renamed != waiter and _is_current(layout, waiter):
        turns.save(layout, renamed)
    return renamed


def _seat_files(context: Context) -> list[str]:
    """The files that change with the names of the seat: a ball may be for any."""
    with suppress(WcError):
        tree = context.place.repository
        if tree is not None and tree.linked:
            return [f"{tree.gitdir}/HEAD", seats.path_of(tree)]
    return []


def _next_look(context: Context, layout: Layout) -> float:
    """The seconds until a fetch is due. Starts what is due now."""
    seconds = _MOST_SECONDS
    try:
        rules = context.settings
        if rules.sync == "background":
            spawn.start_if_due(layout, rules, context.env)
            age = age_of(layout.sync_state)
            if rules.fetch_every and age < math.inf:
                remaining = max(_RETRY_SECONDS / 2, rules.fetch_every - age)
                seconds = min(seconds, remaining)
    except (WcError, OSError):
        pass  # a convenience; the next check tries again
    return seconds


def _sleep(
    waiter: Waiter,
    watched: tuple[Layout, list[str], int],
    seconds: float,
    words: tuple[str, ...],
) -> NoReturn:
    """Execute a sleeper, which executes this process again."""
    layout, folders, before = watched
    limited = min(max(seconds, _LEAST_SECONDS), _MOST_SECONDS)
    arguments = (
        waiters.path_of(layout, waiter.name),
        waiter.token,
        str(waiter.pid),
        f"{limited:.1f}",
        str(before),
        private_layout(layout).wake_switch,
        str(len(folders)),
        *folders,
    )
    command = own_words("wc_cli.agents.wake.waiting", words, os.environ)
    program = (sys.executable, "-I", "-S", sleeper.__file__)
    os.execv(sys.executable, [*program, *arguments, *command])  # noqa: S606


if __name__ == "__main__":
    main()
