"""Sends one notice to one target."""

from __future__ import annotations

from wc_cli.bridges.notify import local, tmux
from wc_cli.bridges.notify.sequences import BELL, sequences
from wc_cli.bridges.notify.terminals import last_terminal, own_terminal
from wc_core.attention.notify import targets
from wc_core.attention.notify.messages import HIGH, payload
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.attention.notify.messages import Notice
    from wc_core.attention.notify.targets import Target
    from wc_core.base.layout import Layout


class Sender(NamedTuple):
    """How targets are reached: the environment, the store whose terminals are known
    (``None``: the terminal of this process), and whether webhooks get text of
    threads."""

    env: Mapping[str, str]
    layout: Layout | None
    content: bool = False


class Delivery(NamedTuple):
    """The result of a delivery. ``away``: nobody can be reached there now, which is not
    a failure. ``pause_ms`` is how long the target asks to wait."""

    ok: bool
    text: str
    body: str = ""
    pause_ms: int = 0
    away: bool = False


def deliver(target: Target, notice: Notice, sender: Sender) -> Delivery:
    """Send a notice."""
    if target.is_webhook:
        # 45 ms, only for those who have them
        from wc_cli.bridges.notify import webhooks

        fields = payload(target, notice, content=sender.content)
        answer = webhooks.post(target, fields)
        return Delivery(answer.ok, answer.status, answer.body, answer.pause_ms)
    urgent = notice.priority == HIGH
    heading = one_line(notice.heading, local.WIDTH)
    words = (heading, one_line(notice.body(content=True), local.WIDTH))
    if target.kind == targets.DESKTOP:
        problem = local.desktop_problem(sender.env, words, urgent=urgent)
        return Delivery(not problem, problem or "shown on the desktop")
    if target.kind == targets.TMUX:
        return _to_tmux(words, sender.env)
    return _to_terminal(target, words, sender, urgent=urgent)


def _to_tmux(words: tuple[str, str], env: Mapping[str, str]) -> Delivery:
    """Show a message in each attached terminal."""
    clients = tmux.clients(env)
    if not clients:
        return Delivery(False, "no terminal is attached to tmux", away=True)
    problems = [tmux.show_message(env, client, " · ".join(words)) for client in clients]
    problem = next(filter(None, problems), "")
    return Delivery(not problem, problem or f"shown in {clients[0].name}")


def _to_terminal(
    target: Target,
    words: tuple[str, str],
    sender: Sender,
    *,
    urgent: bool,
) -> Delivery:
    """Write to the terminal that the person used last."""
    layout, env = sender.layout, sender.env
    terminal = last_terminal(layout) if layout is not None else own_terminal(env)
    if terminal is None:
        return Delivery(False, "no terminal of yours is known here", away=True)
    text = BELL
    if target.kind == targets.OSC:
        text = sequences(terminal.protocols, words, tmux=terminal.tmux, urgent=urgent)
    if not terminal.write(text):
        return Delivery(False, f"{terminal.tty} cannot be written to", away=True)
    return Delivery(True, f"written to {terminal.tty}")
