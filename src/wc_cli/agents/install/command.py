"""The commands ``wc install`` and ``wc uninstall``."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from wc_cli.agents.briefing.dialects import DIALECTS
from wc_cli.agents.install import disk, engine, report
from wc_cli.agents.install.changes import (
    OPTIONAL,
    PARTS,
    USER_AND_PROJECT,
    Client,
    InstallSite,
)
from wc_cli.agents.install.clients import registry
from wc_cli.agents.install.engine import Plan, Want
from wc_cli.agents.install.ledger import Ledger, Owner, open_ledger, tidy
from wc_cli.run.options import Options, command, flag, text, words
from wc_cli.run.output import remark, say
from wc_core.base.errors import FindingsError, InvalidInputError, WcError
from wc_core.base.names import are_similar, fold, near_names
from wc_core.people.identity import userrecord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wc_cli.run.context import Context

_NAMES = tuple(client.name for client in registry.CLIENTS)


class _Connecting(Options):
    """The arguments of both commands."""

    names: tuple[str, ...] = words(
        "CLIENT...", "The clients (default: all that are found).", default=()
    )
    scope: str = text(
        "--scope", "SCOPE", "user or project (this worktree, shared with others)."
    )
    only: str = text(
        "--only",
        "PART",
        "Only this part, such as server, hooks or prompt; --only help lists them.",
    )
    dry_run: bool = flag("--dry-run", help="Only show what would change.")
    verbose: bool = flag(
        "--verbose", "-v", help="With --dry-run: every line of new files, too."
    )
    yes: bool = flag("--yes", help="Do not ask.")


class Install(_Connecting):
    """Connect agents, editors and shells: server, skill, permissions, hooks, status
    line. Your files keep their comments and order; `wc uninstall` restores them."""

    extra: str = text(
        "--with",
        "PART",
        f"Also install this optional part: {', '.join(OPTIONAL)}.",
    )
    without: str = text("--without", "PART", "Leave out this optional part.")
    check: bool = flag("--check", help="Only check; exits 9 if anything is wrong.")


class Uninstall(_Connecting):
    """Remove what wc install added. Files that have not changed since are restored
    byte for byte."""


@command(Install)
def install(context: Context, options: Install) -> None:
    """Connect clients."""
    site = install_site(context, _scope(options))
    _require_optional(options)
    clients = _clients(options, site)
    offered = _offered(clients, options, site)
    wants = _requested(offered, options, Ledger(site.home).owners())
    obsolete = _obsolete(clients, wants, options, site)
    if options.check:
        _check(site, wants, obsolete, options)
        return
    if not obsolete:
        _require_some(wants, options)
    missing = _names_without(wants, options)
    if missing:
        remark(f"wc: nothing to install for {missing} here")
    if unwakeable := _cannot_be_woken(clients, offered, options):
        remark(f"wc: {unwakeable} cannot be woken; they wait with: wc wait")
    if not options.json:
        _name_optional(offered, wants, options, site)
    _carry_out(
        site,
        "install",
        lambda ledger: engine.plan_install(ledger, wants, obsolete),
        options,
    )
    if site.store is not None and not options.dry_run:
        context.remember()


@command(Uninstall)
def uninstall(context: Context, options: Uninstall) -> None:
    """Disconnect clients."""
    site = install_site(context, _scope(options))
    owners = _installed_owners(site, options)
    if not owners and not options.json:
        if not options.dry_run:
            tidy(site.home)
        say("None of this is installed.")
        return
    _carry_out(
        site, "uninstall", lambda ledger: engine.plan_removal(ledger, owners), options
    )


def install_site(context: Context, scope: str) -> InstallSite:
    """Where to install. A folder without a usable store has none.

    Raises InvalidInputError without a home folder, or without a project for the scope
    "project".
    """
    project = store = None
    with contextlib.suppress(WcError, OSError):
        place = context.place
        if place.repository is not None and place.repository.top:
            project = Path(place.repository.top)
        store = Path(place.root) if place.exists else None
    home = context.env.get("HOME", "")
    if not os.path.isabs(home):
        raise InvalidInputError("HOME is not set.", "Set it to your home folder.")
    if scope == "project" and project is None:
        raise InvalidInputError(
            "There is no project here.", "Run it in a worktree of a git repository."
        )
    env = context.env
    return InstallSite(Path(home), env, sys.platform, project, store, scope)


def _scope(options: _Connecting) -> str:
    """The scope. Raises InvalidInputError for an unknown scope or part."""
    if options.scope not in {"", *USER_AND_PROJECT}:
        raise InvalidInputError(
            f"{options.scope!r} is not a scope.",
            f"One of: {', '.join(USER_AND_PROJECT)}",
        )
    if options.only not in {"", *PARTS}:
        raise InvalidInputError(
            f"{options.only!r} is not a part.", _names_hint(options.only, PARTS)
        )
    return options.scope or "user"


def _project_name(site: InstallSite) -> str:
    """The project of an `Owner`: ``""`` for the user."""
    return str(site.project) if site.scope == "project" else ""


def _require_optional(options: Install) -> None:
    """Raise InvalidInputError if ``--with`` or ``--without`` names something other than
    an optional part, or both name it."""
    for part in (options.extra, options.without):
        if part not in {"", *OPTIONAL}:
            raise InvalidInputError(
                f"{part!r} is not an optional part.",
                f"The optional parts: {', '.join(OPTIONAL)}",
            )
    if options.without and options.without in {options.extra, options.only}:
        raise InvalidInputError(
            f"--without {options.without} leaves out what another option asks for.",
            "Give only one of them.",
        )


def _requested(
    offered: Sequence[Want], options: Install, installed: Iterable[Owner]
) -> list[Want]:
    """The parts to install. An optional one is added with an agent's first parts,
    unless agents were connected without it before; later only on request."""
    asked = {options.only, options.extra}
    installed = frozenset(owner for owner in installed if not owner.project)
    agents = {client.name for client in registry.AGENT_CLIENTS}
    connected = agents & {owner.client for owner in installed}
    has_optional = any(owner.part in OPTIONAL for owner in installed)
    fresh = agents - connected if has_optional or not connected else frozenset()

    def is_requested(want: Want) -> bool:
        part = want.part.name
        if part not in OPTIONAL or part in asked:
            return True
        return part != options.without and (
            want.owner in installed or want.owner.client in fresh
        )

    return [want for want in offered if is_requested(want)]


def _name_optional(
    offered: Sequence[Want], wants: Sequence[Want], options: Install, site: InstallSite
) -> None:
    """Say which agents get an optional part, and which do not, where nobody asked."""
    optional = [want for want in offered if want.part.name in OPTIONAL]
    if {options.only, options.extra, options.without} & {*OPTIONAL}:
        return
    installed = Ledger(site.home).owners()
    added = [
        want.owner.client
        for want in optional
        if want in wants and want.owner not in installed
    ]
    left_out = [want.owner.client for want in optional if want not in wants]
    if added:
        remark(
            f"wc: a ball wakes {', '.join(sorted(added))} when idle; to leave this "
            f"out: {_command_line('install', options)} --without wake"
        )
    if left_out:
        remark(
            "wc: not included: wake, which lets a ball wake "
            f"{', '.join(sorted(left_out))}; add it with: --with wake"
        )


def _cannot_be_woken(
    clients: Sequence[Client], offered: Sequence[Want], options: Install
) -> str:
    """The agents among the clients that have hooks but cannot be woken, if waking was
    requested."""
    if "wake" not in {options.only, options.extra}:
        return ""
    can = {want.owner.client for want in offered if want.part.name == "wake"}
    titles = (
        client.title
        for client in clients
        if client.name in DIALECTS and client.name not in can
    )
    return ", ".join(titles)


def _offered(
    clients: Sequence[Client], options: Install, site: InstallSite
) -> list[Want]:
    """The parts that exist for these clients."""
    project, ledger = _project_name(site), Ledger(site.home)
    return [
        Want(Owner(client.name, part.name, project), part)
        for client in clients
        for part in registry.kept_parts(client, site, project, ledger)
        if options.only in {"", part.name} and part.changes
    ]


def _obsolete(
    clients: Sequence[Client],
    wants: Sequence[Want],
    options: Install,
    site: InstallSite,
) -> tuple[Owner, ...]:
    """The installed parts that these clients no longer need, for example because a
    plugin or another prompt provides them."""
    if options.only:
        return ()
    names = {client.name for client in clients}
    project = _project_name(site)
    owners = Ledger(site.home).owners() - {want.owner for want in wants}
    return tuple(
        sorted(
            owner
            for owner in owners
            if owner.client in names and owner.project == project
        )
    )


def _names_without(wants: Sequence[Want], options: Install) -> str:
    """The named clients that get nothing, as text."""
    return ", ".join(sorted({*options.names} - {want.owner.client for want in wants}))


def _require_some(wants: Sequence[Want], options: Install) -> None:
    """Raise InvalidInputError if nothing would be installed."""
    if wants:
        return
    missing = _names_without(wants, options)
    if missing:
        raise InvalidInputError(
            f"None of this can be installed for {missing} here.",
            "Leave out --only; if starship or powerlevel10k makes a shell's prompt, "
            "they show the line.",
        )
    raise InvalidInputError(
        "No client was found to connect.", f"Name one: wc install {'|'.join(_NAMES)}"
    )


def _clients(options: Install, site: InstallSite) -> list[Client]:
    """The named clients, or all that are present or have parts that we installed."""
    by_name = {
        client.name: client
        for client in registry.CLIENTS
        if site.scope in client.scopes
    }
    for name in options.names:
        if name not in by_name:
            is_client = name in _NAMES
            problem = f"has no scope {site.scope!r}" if is_client else "is not a client"
            raise InvalidInputError(f"{name!r} {problem}.", _names_hint(name, by_name))
    named = [by_name[name] for name in dict.fromkeys(options.names)]
    if named:
        return named
    project = _project_name(site)
    owners = Ledger(site.home).owners()
    installed = {owner.client for owner in owners if owner.project == project}
    return [
        client
        for client in by_name.values()
        if client.name in installed or client.is_present(site)
    ]


def _names_hint(name: str, names: Iterable[str]) -> str:
    """Return the client that was probably meant, and all that exist."""
    all_names = list(names)
    near = [known for known in all_names if are_similar(name, known)]
    # Many people type the product's name: claude-code, junie.
    near = near or [known for known in all_names if name.startswith(f"{known}-")]
    titles = {fold(client.title): client.name for client in registry.CLIENTS}
    near = near or [known for known in all_names if known == titles.get(fold(name))]
    near = near or near_names(name, all_names, 1)
    question = f"Did you mean {near[0]}? " if near and near[0] != name else ""
    return f"{question}One of: {', '.join(all_names)}"


def _installed_owners(site: InstallSite, options: Uninstall) -> tuple[Owner, ...]:
    """The installed parts that the options select, in the order of the registry.

    Raises InvalidInputError for the name of an unknown client.
    """
    owners = Ledger(site.home).owners()
    installed = {owner.client for owner in owners}
    for name in options.names:
        if name not in {*installed, *_NAMES}:
            raise InvalidInputError(
                f"{name!r} is not a client.", _names_hint(name, _NAMES)
            )
    selected = (owner for owner in owners if _is_selected(owner, site, options))
    return tuple(sorted(selected, key=_display_order))


def _is_selected(owner: Owner, site: InstallSite, options: Uninstall) -> bool:
    """Whether the options select this part; an option that is not given selects all."""
    projects = {"": owner.project, "user": "", "project": str(site.project)}
    # The rules for a server's tools go with it.
    is_rule = (options.only, owner.part) == ("server", "tools")
    return (
        (not options.names or owner.client in options.names)
        and (options.only in {"", owner.part} or is_rule)
        and owner.project == projects[options.scope]
    )


def _display_order(owner: Owner) -> tuple[str, int, int]:
    """A sort key: by project, then in the order of the registry; clients or parts that
    only another version knows come last."""
    return (owner.project, _rank(owner.client, _NAMES), _rank(owner.part, PARTS))


def _rank(name: str, names: Sequence[str]) -> int:
    return names.index(name) if name in names else len(names)


def _check(
    site: InstallSite,
    wants: Sequence[Want],
    obsolete: Sequence[Owner],
    options: Install,
) -> None:
    """Print the state of every part. Raises FindingsError if an installed part needs
    attention."""
    ledger = Ledger(site.home)
    states = [(want.owner, engine.part_state(ledger, want)) for want in wants]
    states += [(owner, engine.OUTDATED) for owner in obsolete]
    report.print_states(states, site, as_json=options.json)
    bad = [state for _, state in states if state in engine.OUT_OF_ORDER]
    if bad:
        raise FindingsError(
            f"{len(bad)} not in order.",
            f"Update them: {_command_line('install', options)}",
        )


def _carry_out(
    site: InstallSite,
    verb: str,
    make_plan: Callable[[Ledger], Plan],
    options: _Connecting,
) -> None:
    """Show the plan, ask if no client was named, carry it out, and print the
    outcomes."""
    plan = make_plan(Ledger(site.home))
    again = _command_line(verb, options)
    if options.dry_run:
        report.print_dry_run(
            plan,
            site,
            verb,
            as_json=options.json,
            is_verbose=options.verbose,
        )
        _raise_first_error(plan.outcomes, again)
        return
    unasked = not options.names and not options.yes
    if (
        unasked
        and plan.workspace.changed()
        and not _confirmed(plan, site, verb, options)
    ):
        say("Nothing was changed.")
        return
    with open_ledger(site.home) as ledger:
        outcomes = engine.carry_out(make_plan(ledger), lambda: make_plan(ledger))
        if ledger.files:
            _record_user(site.env)
    report.print_outcomes(outcomes, site, verb, as_json=options.json)
    _raise_first_error(outcomes, again)


def _record_user(env: Mapping[str, str]) -> None:
    """Record git's configured user, for stores without a record: an agent that hides
    git's configuration may be the first to write there."""
    user = userrecord.configured_user(None, env)
    if userrecord.is_news(user, userrecord.recorded_user("", env), env):
        data = json.dumps(user.fields()).encode()
        disk.write(userrecord.machine_path(env), data, mode=0o600)


def _confirmed(plan: Plan, site: InstallSite, verb: str, options: _Connecting) -> bool:
    """Show the plan of ``verb`` and ask whether to continue.

    Raises InvalidInputError if nobody can answer.
    """
    if options.json or not sys.stdin.isatty() or not sys.stdout.isatty():
        raise InvalidInputError(
            "Not interactive: wc cannot ask before it changes files.",
            "Name the clients, or pass --yes.",
        )
    report.print_plan(plan, site, verb)
    sys.stdout.write("Continue? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _command_line(verb: str, options: _Connecting) -> str:
    """The command to run again for the same clients."""
    scope = ("--scope", options.scope) if options.scope else ()
    return " ".join(("wc", verb, *options.names, *scope))


def _raise_first_error(outcomes: Sequence[engine.PartOutcome], again: str) -> None:
    """Raise an error of the first kind among the refused parts, if any."""
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors:
        parts = "1 part was" if len(errors) == 1 else f"{len(errors)} parts were"
        hint = f"See above for what to do; everything else is done. Then: {again}"
        raise type(errors[0])(f"{parts} left alone.", hint)
