"""``wc rules``: the repository's rules for threads, and which threads violate them."""

from __future__ import annotations

from wc_cli.commands.common import SpeakerOptions
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import argument, command
from wc_cli.run.output import say, say_json
from wc_core.base.errors import CorruptError, FindingsError, InvalidInputError
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.ledger import settingvalues
from wc_core.ledger.configuration.keys import RULES
from wc_core.ledger.rules import auditing
from wc_core.ledger.threads.jsontext import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.ledger.settingvalues import SettingValue

_LIST, _CHECK = "list", "check"


class RulesOptions(SpeakerOptions):
    """List the rules of this repository; with check, the threads that violate them.
    Exits 9 if any does."""

    action: str = argument("ACTION", "list or check.", default=_LIST)


@command(RulesOptions)
def rules(context: Context, options: RulesOptions) -> None:
    """List the rules, or check the threads."""
    if options.action not in {_LIST, _CHECK}:
        raise InvalidInputError(
            f"wc rules has no action {one_line(options.action)!r}.",
            "Use: wc rules | wc rules check. To change one: wc config set rules.…",
        )
    context.adopt()
    damage = context.settings.damage
    if damage is not None:
        raise CorruptError(
            f"{damage.file}: {one_line(damage.message)}.",
            "The rules cannot be read; fix the file first.",
        )
    if options.action == _LIST:
        _list(context, options)
    else:
        _check(context, options)


def _list(context: Context, options: RulesOptions) -> None:
    values = settingvalues.in_force(context.place.root, context.env)
    chosen = [value for value in values if value.parts[0] == RULES and _is_rule(value)]
    if options.json:
        say_json({"rules": [value.to_json() for value in chosen]})
    elif chosen:
        say("\n".join(map(_line, chosen)))
    else:
        say("This repository has no rules. Set one: wc config set rules.title 'fix: *'")


def _is_rule(value: SettingValue) -> bool:
    """Whether the value sets a rule."""
    return value.value not in (None, 0, "none", [])


def _line(value: SettingValue) -> str:
    return one_line(f"{value.name} = {dumps(value.value)}: {value.key.help}")


def _check(context: Context, options: RulesOptions) -> None:
    settings = context.settings
    violations = list(
        auditing.violations(
            context.reader, settings.rules, settings.directory, now_ms()
        )
    )
    if options.json:
        rows = [violation.to_json() for violation in violations]
        say_json({"store": context.store, "violations": rows})
    elif violations:
        lines = (f"{row.thread}: {row.rule}: {row.message}" for row in violations)
        say("\n".join(map(one_line, lines)))
    else:
        say("No thread violates the rules.")
    if violations:
        count = counted(len(violations), "violation")
        raise FindingsError(f"{count}.", "See the rules: wc rules")
