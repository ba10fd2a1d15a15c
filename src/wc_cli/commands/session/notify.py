"""``wc notify``: how a person is notified, what was sent, and a test of it."""

from __future__ import annotations

import contextlib

from wc_cli.bridges.notify import notifying
from wc_cli.bridges.notify.delivery import Sender, deliver
from wc_cli.commands.common import SpeakerOptions
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import argument, command
from wc_cli.run.output import remark, say, say_json
from wc_core.attention.notify import targets
from wc_core.attention.notify.messages import TEST, Notice, repository_name
from wc_core.attention.notify.records import TargetState
from wc_core.base.errors import FindingsError, InvalidInputError, NotFoundError, WcError
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import ago, rfc3339, seconds_between
from wc_core.ledger.configuration import preferences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from wc_cli.bridges.notify.delivery import Delivery
    from wc_cli.bridges.notify.outbox import Outbox
    from wc_cli.run.context import Context
    from wc_core.attention.notify.targets import Target

_SHOW, _TEST = "show", "test"
_USAGE = "Use: wc notify | wc notify test [TARGET]"
_SET = "Set it: wc config --global set notify.targets desktop ntfy:https://…/TOPIC"


class NotifyOptions(SpeakerOptions):
    """Show how you are notified of balls and questions, and what was sent last. `test`
    sends a notification to your targets and prints the responses."""

    action: str = argument("ACTION", "show or test.", default=_SHOW)
    target: str = argument(
        "TARGET", "Only this one: its kind, such as ntfy, or its name.", default=""
    )


@command(NotifyOptions)
def notify(context: Context, options: NotifyOptions) -> None:
    """Show or test notifications."""
    if options.action not in {_SHOW, _TEST}:
        raise InvalidInputError(
            f"wc notify has no action {one_line(options.action)!r}.", _USAGE
        )
    own = preferences.load(context.env)
    listed = targets.parse_all(own.targets)
    for problem in (own.problem, *listed.problems):
        if problem:
            remark(f"note: {one_line(problem)}")
    chosen = targets.matching(listed.targets, options.target)
    if options.target and not chosen:
        names = ", ".join(target.label for target in listed.targets) or "none"
        raise NotFoundError(
            f"You have no target {one_line(targets.shown(options.target), 40)!r}.",
            f"Targets: {names}.",
        )
    if options.action == _SHOW:
        _show(context, options, chosen)
    elif chosen:
        _test(context, options, chosen)
    else:
        raise NotFoundError("You have no targets.", _SET)


def _outbox(context: Context) -> Outbox | None:
    """The records of this store; ``None`` outside a store."""
    try:
        place = context.place
        return notifying.outbox_of(place.root, context.env) if place.exists else None
    except WcError:
        return None


def _show(context: Context, options: NotifyOptions, chosen: Sequence[Target]) -> None:
    outbox = _outbox(context)
    states = outbox.states() if outbox is not None else {}
    rows = [(target, states.get(target.id, TargetState())) for target in chosen]
    own = preferences.load(context.env)
    if options.json:
        fields = [_row_json(target, state) for target, state in rows]
        say_json({"targets": fields, "content": own.content})
    elif rows:
        say("\n".join(_row_line(target, state) for target, state in rows))
    else:
        say(f"You have no targets, so nothing notifies you. {_SET}")


def _row_json(target: Target, state: TargetState) -> dict[str, Any]:
    sent = rfc3339(state.sent_ms) if state.sent_ms else None
    return {
        "target": target.label,
        "sent_at": sent,
        "sent": state.sent,
        "failures": state.failures,
        "problem": state.problem,
    }


def _row_line(target: Target, state: TargetState) -> str:
    words = "nothing sent from this store yet"
    if state.sent_ms:
        age = seconds_between(state.sent_ms, now_ms())
        words = f"sent {ago(age)}: {state.sent}"
    if state.failures:
        words += f"; failed {counted(state.failures, 'time')}: {state.problem}"
    return one_line(f"{target.label} · {words}")


def _test(context: Context, options: NotifyOptions, chosen: Sequence[Target]) -> None:
    outbox = _outbox(context)
    name = repository_name(context.place.root) if outbox is not None else ""
    notice = Notice(TEST, name, text="Notifications arrive here.", at_ms=now_ms())
    content = preferences.load(context.env).content
    sender = Sender(context.env, None, content)
    failed, rows = 0, []
    for target in chosen:
        delivery = deliver(target, notice, sender)
        if outbox is not None:
            _note(outbox, target, delivery)
        failed += not delivery.ok
        rows.append(_delivery_json(target, delivery))
        if not options.json:
            say(_delivery_line(target, delivery))
    if options.json:
        say_json({"targets": rows})
    if failed:
        raise FindingsError(
            f"{counted(failed, 'target')} failed.",
            "Fix it: wc config --global set notify.targets …",
        )


def _note(outbox: Outbox, target: Target, delivery: Delivery) -> None:
    """Record the response: a target that works again is no longer a problem."""
    states = outbox.states()
    state = states.get(target.id, TargetState())._replace(label=target.label)
    if delivery.ok:
        state = state.after_success(now_ms(), "a test")
    elif not delivery.away:
        state = state.after_failure(now_ms(), delivery.text, delivery.pause_ms)
    with contextlib.suppress(WcError):  # sent or not, either way
        outbox.save_states({**states, target.id: state})


def _delivery_line(target: Target, delivery: Delivery) -> str:
    word = "sent" if delivery.ok else "failed"
    body = f": {delivery.body}" if delivery.body else ""
    return one_line(f"{target.label} · {word}: {delivery.text}{body}")


def _delivery_json(target: Target, delivery: Delivery) -> dict[str, Any]:
    return {
        "target": target.label,
        "ok": delivery.ok,
        "result": delivery.text,
        "answer": delivery.body,
    }
