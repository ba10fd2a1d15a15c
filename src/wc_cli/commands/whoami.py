"""``wc whoami``: your name here, the rules behind it, and how to change it."""

from __future__ import annotations

from wc_cli.run.entries.localtopic import chosen_text
from wc_cli.run.options import Options, command, flag
from wc_cli.run.output import say, say_json
from wc_core.attention.status import identityfiles, pins
from wc_core.base import names
from wc_core.base.errors import NotFoundError
from wc_core.base.files import read_plain
from wc_core.base.layout import Layout, safe_name
from wc_core.base.lean.contextlib import suppress
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.discovery import BRANCH_STORE, IN_TREE_STORE, NAMED
from wc_core.people.identity import environment, resolve
from wc_core.people.identity.resolve import SESSION, Asked, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_cli.run.context import Context

_KINDS = {
    NAMED: "named by --store or WATERCOOLER_DIR",
    IN_TREE_STORE: "in the code's own tree",
    BRANCH_STORE: "the branch watercooler/threads",
}
_ADVICE = (
    "To be someone else: --as NAME and --seat SEAT for one command; "
    "WATERCOOLER_AGENT, WATERCOOLER_SEAT and WATERCOOLER_USER for longer."
)
_NOBODY_YET = "knows nobody here yet"
_ONE_COMMAND = "--as and --seat only apply to this command"


class WhoamiOptions(Options):
    """Show who you are here, in which store, and the thread chosen with wc use."""

    explain: bool = flag("--explain", help="Show every rule and which one applied.")


@command(WhoamiOptions)
def whoami(context: Context, options: WhoamiOptions) -> None:
    """Show who you are, which works without a store, too."""
    with suppress(NotFoundError):
        context.adopt()
    identity = context.identity
    context.remember()
    explanation = _make_explanation(context) if options.explain else None
    if options.json:
        fields: dict[str, Any] = {
            "name": identity.author,
            "agent": identity.name.agent,
            "seat": identity.name.seat or None,
            "tag": identity.name.tag or None,
            "source": identity.source,
            "store": context.store,
            "kind": context.place.kind,
        }
        pin = pins.pin_of(Layout(context.place.root), context.place.repository)
        if pin.topic:
            fields["thread"] = pin.topic
        if explanation is not None:
            fields["explanation"] = explanation.fields()
        say_json(fields)
        return
    kind = _KINDS.get(context.place.kind, "outside git")
    state = "" if context.place.exists else f", {_missing_state(context)}"
    say(one_line(f"{identity.author} (by {identity.source})"))
    say(one_line(f"store: {context.store} ({kind}{state})"))
    if chosen := chosen_text(context):
        say(one_line(f"thread: {chosen}"))
    if explanation is not None:
        say(explanation.text())


def _missing_state(context: Context) -> str:
    """Return why there is no store."""
    if context.place.branch_exists:
        return "not checked out: wc init"
    return context.unasked or "not made yet"


class NamePart(NamedTuple):
    """A part of a name and the rules for it. The first rule with a value decides."""

    name: str
    value: str
    rules: tuple[Rule, ...]

    @property
    def deciding_rule(self) -> Rule | None:
        """The rule that decides."""
        return next((rule for rule in self.rules if rule.value), None)


class Explanation(NamedTuple):
    """The answer to ``--explain``. ``elsewhere`` is what the status line and a server
    would answer, each with whether it is the same."""

    parts: tuple[NamePart, ...]
    elsewhere: tuple[tuple[str, bool, str], ...]
    notes: tuple[str, ...]

    def fields(self) -> dict[str, Any]:
        """Return the explanation for programs."""
        return {
            **{
                part.name: [
                    {
                        "rule": rule.name,
                        "found": rule.value or None,
                        "won": rule is part.deciding_rule,
                    }
                    for rule in part.rules
                ]
                for part in self.parts
            },
            **{
                program.replace(" ", "_"): {"same": agrees, "says": says}
                for program, agrees, says in self.elsewhere
            },
            "notes": list(self.notes),
        }

    def text(self) -> str:
        """Return the explanation for people."""
        lines = []
        for part in self.parts:
            lines.append(f"{part.name}: {one_line(part.value) or 'none'}")
            for rule in part.rules:
                mark = ">" if rule is part.deciding_rule else " "
                value = one_line(rule.value) or "-"
                lines.append(f"  {mark} {rule.name:<17}  {value}")
        lines += [f"{program}: {one_line(says)}" for program, _, says in self.elsewhere]
        return "\n".join((*lines, *map(one_line, self.notes), _ADVICE))


def _make_explanation(context: Context) -> Explanation:
    identity = context.identity
    parts = _name_parts(context)
    elsewhere = (
        ("status line", *_status_line(context)),
        ("server", *_server_answer(context)),
    )
    notes = () if identity.person else tuple(_surprises(context))
    return Explanation(parts, elsewhere, notes)


def _name_parts(context: Context) -> tuple[NamePart, ...]:
    identity = context.identity
    asked, env, repository = context.asked, context.env, context.place.repository
    users = tuple(
        rule
        for rule in resolve.user_rules(env, repository, context.evidence)
        if rule.value or rule.name != resolve.SYSTEMWIDE
    )
    rules = tuple(
        rule
        for rule in resolve.agent_rules(
            *(asked, env, context.settings, context.evidence, repository)
        )
        if rule.value or rule.name not in {"client", "git's bot"}
    )
    agent = NamePart("agent", identity.name.agent, (*rules, *users))
    if identity.person:
        return (agent,)
    spoken = names.parse(resolve.winning_rule(iter(rules)).value)
    places = tuple(resolve.worktree_rules(repository, context.settings, env))
    seats = tuple(resolve.seat_rules(spoken, asked, env, places))
    return (
        agent,
        NamePart("seat", identity.name.seat, seats),
        NamePart("tag", identity.name.tag, (Rule("in the name", spoken.tag), *users)),
    )


def _surprises(context: Context) -> list[str]:
    """Return notes on what may be surprising here."""
    identity, env = context.identity, context.env
    marks = [agent for _, agent in environment.agents_in(env)]
    directory = context.settings.directory
    different = [name for name in marks if not directory.same(name, marks[0])]
    notes = []
    if different and identity.source == next(environment.agents_in(env))[0]:
        notes.append(
            f"{marks[0]} and {different[0]} have both set variables here, and it "
            f"is unclear which one started the other: {marks[0]} counts. If that "
            "is "
            "wrong, set WATERCOOLER_AGENT."
        )
    if bot := resolve.bot_of_git(env, context.place.repository):
        notes.append(
            f"git's user here is that of {bot}, which is no person: no tag follows "
            "from it. Say who it works for with WATERCOOLER_USER."
        )
    seat = context.asked.seat or env.get("WATERCOOLER_SEAT", "")
    if seat.strip() == SESSION and not environment.session_end(env):
        notes.append(
            "Nothing here distinguishes sessions: name the seat instead, "
            "with WATERCOOLER_SEAT or --seat."
        )
    if not identity.name.seat:
        notes.append(
            f"Without a seat, a ball for {identity.author} is also for "
            f"{identity.name.agent} in your linked worktrees."
        )
    return notes


def _status_line(context: Context) -> tuple[bool, str]:
    """Return the name that ``wc-statusline`` would show in this environment and
    folder."""
    plain = context.identify(Asked())
    layout = Layout(context.place.root)
    repository = context.place.repository
    worktree = (repository.worktree_id if repository is not None else "") or None
    name = identityfiles.who_name(plain.source, context.env)
    folders = [worktree or identityfiles.MAIN_WORKTREE]
    if plain.person:
        folders.append(identityfiles.MAIN_WORKTREE)
    for folder in folders:
        kept = read_plain(f"{layout.local}/me/{folder}/{name}", layout.root)
        if kept:
            break
    else:
        return False, _NOBODY_YET
    key = kept.partition(b"\n")[0].decode(errors="replace")
    if key == safe_name(context.settings.directory.key(context.identity.name)):
        return True, "the same"
    given_name = context.asked.name or context.asked.seat
    return False, f"{key}; {_ONE_COMMAND}" if given_name else key


def _server_answer(context: Context) -> tuple[bool, str]:
    """Return what a server would answer that is started in this environment and
    folder."""
    plain = context.identify(Asked())
    if plain.name != context.identity.name:
        return False, f"{plain.author}; {_ONE_COMMAND}"
    if plain.source == "WATERCOOLER_AGENT":
        return True, "the same"
    return True, "the same, unless its client says that it is another agent"
