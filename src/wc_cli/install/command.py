"""``wc install``, ``wc uninstall``: from words to parts of clients."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.install import engine, report
from wc_cli.install.changes import PARTS, Client, InstallSite
from wc_cli.install.clients import registry
from wc_cli.install.engine import Plan, Want
from wc_cli.install.ledger import Ledger, Owner, opened, tidy
from wc_cli.options import Options, command, flag, text, words
from wc_cli.output import remark, say
from wc_core.errors import FindingsError, InvalidInputError, WcError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wc_cli.context import Context

_SCOPES = ("user", "project")


class _Connecting(Options):
    """What both commands may be told."""

    names: tuple[str, ...] = words(
        "CLIENT", "Which; all that are found if left out.", default=()
    )
    scope: str = text(
        "--scope", "SCOPE", "user or project (this worktree, shared with others)."
    )
    only: str = text("--only", "PART", f"One part alone: {', '.join(PARTS)}.")
    dry_run: bool = flag("--dry-run", help="Show what would change, line by line.")
    yes: bool = flag("--yes", help="Do not ask.")
    json: bool = flag("--json", help="Answer in JSON.")


class Install(_Connecting):
    """Connect agents, editors and shells: server, skill, permissions, hooks, status
    line. Your files keep their comments and order; `wc uninstall` brings them back."""

    check: bool = flag("--check", help="Only say how it stands; 9 if not in order.")


class Uninstall(_Connecting):
    """Take out what wc install put in. Files that nobody changed since are as they
    were, byte for byte."""


class Chosen(NamedTuple):
    """What is planned, once the ledger is known, and which command it is."""

    plan: Callable[[Ledger], Plan]
    verb: str


@command(Install)
def install(context: Context, said: Install) -> None:
    """Connect clients."""
    here = surroundings(context, _scope(said) or "user")
    wants = _wants(said, here)
    gone = _gone(here, wants, said)
    if said.check:
        _check(here, wants, gone, said)
        return
    missing = ", ".join(sorted(set(said.names) - {one.owner.client for one in wants}))
    if missing and not wants and not gone:
        raise InvalidInputError(
            f"There is nothing of that to install for {missing} here.",
            "Leave out --only; a shell whose prompt starship or powerlevel10k makes"
            " has the line from them.",
        )
    if missing:
        remark(f"wc: nothing of that for {missing} here")
    if not wants and not gone:
        raise InvalidInputError(
            "No client was found to connect.",
            f"Name one: wc install {'|'.join(one.name for one in registry.CLIENTS)}",
        )
    plan = Chosen(lambda book: engine.plan_install(book, wants, gone), "install")
    _carry_out(here, plan, said)


@command(Uninstall)
def uninstall(context: Context, said: Uninstall) -> None:
    """Disconnect clients."""
    here = surroundings(context, _scope(said) or "user")
    owners = _installed(here, said)
    if not owners and not said.json:
        if not said.dry_run:
            tidy(here.home)
        say("Nothing of that is installed.")
        return
    plan = Chosen(lambda book: engine.plan_removal(book, owners), "uninstall")
    _carry_out(here, plan, said)


def surroundings(context: Context, scope: str) -> InstallSite:
    """Where we install; a place without a usable store is none."""
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


def _scope(said: _Connecting) -> str:
    if said.scope not in {"", *_SCOPES}:
        raise InvalidInputError(
            f"{said.scope!r} is not a scope.", f"One of: {', '.join(_SCOPES)}"
        )
    if said.only not in {"", *PARTS}:
        raise InvalidInputError(
            f"{said.only!r} is not a part.", f"One of: {', '.join(PARTS)}"
        )
    return said.scope


def _wants(said: Install, here: InstallSite) -> list[Want]:
    """The parts of the clients named, or of all that are found."""
    project = str(here.project) if here.scope == "project" else ""
    return [
        Want(Owner(client.name, part.name, project), part)
        for client in _clients(said, here)
        for part in registry.parts(client, here)
        if said.only in {"", part.name} and part.changes
    ]


def _gone(here: InstallSite, wants: Sequence[Want], said: Install) -> tuple[Owner, ...]:
    """For whom something was installed that these clients have no use for any more:
    a plugin brings it, say, or another prompt."""
    if said.only:
        return ()
    meant = {one.name for one in _clients(said, here)}
    project = str(here.project) if here.scope == "project" else ""
    owners = Ledger(here.home).owners() - {one.owner for one in wants}
    return tuple(
        sorted(one for one in owners if one.client in meant and one.project == project)
    )


def _clients(said: Install, here: InstallSite) -> list[Client]:
    fitting = {one.name: one for one in registry.CLIENTS if here.scope in one.scopes}
    for name in said.names:
        if name not in fitting:
            what = (
                f"has no scope {here.scope!r}" if _is_client(name) else "is no client"
            )
            raise InvalidInputError(
                f"{name!r} {what}.", f"One of: {', '.join(fitting)}"
            )
    named = [fitting[name] for name in dict.fromkeys(said.names)]
    return named or [one for one in fitting.values() if one.found(here)]


def _is_client(name: str) -> bool:
    return any(one.name == name for one in registry.CLIENTS)


def _installed(here: InstallSite, said: Uninstall) -> tuple[Owner, ...]:
    """For whom something is installed, of those meant."""
    owners = Ledger(here.home).owners()
    known = {one.client for one in owners}
    for name in said.names:
        if name not in known and not _is_client(name):
            names = ", ".join(one.name for one in registry.CLIENTS)
            raise InvalidInputError(f"{name!r} is no client.", f"One of: {names}")
    meant = {"user": "", "project": str(here.project)}
    order = [one.name for one in registry.CLIENTS]
    return tuple(
        sorted(
            (
                one
                for one in owners
                if one.client in (said.names or known)
                and said.only in {"", one.part}
                and (not said.scope or one.project == meant[said.scope])
            ),
            key=lambda one: (
                one.project,
                order.index(one.client) if one.client in order else len(order),
                PARTS.index(one.part) if one.part in PARTS else len(PARTS),
            ),
        )
    )


def _check(
    here: InstallSite, wants: Sequence[Want], gone: Sequence[Owner], said: Install
) -> None:
    """Say how every part stands; it is not in order if something that was installed
    is not as it should be."""
    book = Ledger(here.home)
    states = [(one.owner, engine.state(book, one)) for one in wants]
    states += [(one, engine.OUTDATED) for one in gone]
    report.states(states, here, as_json=said.json)
    bad = [one for one in states if one[1] in engine.OUT_OF_ORDER]
    if bad:
        raise FindingsError(
            f"{len(bad)} not in order.",
            f"Bring them up to date: {_again('install', said)}",
        )


def _carry_out(here: InstallSite, chosen: Chosen, said: _Connecting) -> None:
    """Show the plan, ask where nobody named a client, do it, show what was done."""
    plan = chosen.plan(Ledger(here.home))
    if said.dry_run:
        report.dry_run(plan, here, as_json=said.json)
        _complain(plan.outcomes, _again(chosen.verb, said))
        return
    if (
        not said.names
        and not said.yes
        and plan.changes
        and not _agreed(plan, here, said)
    ):
        say("Nothing was changed.")
        return
    with opened(here.home) as book:
        outcomes = engine.carry_out(chosen.plan(book))
    report.outcomes(outcomes, here, chosen.verb, as_json=said.json)
    _complain(outcomes, _again(chosen.verb, said))


def _agreed(plan: Plan, here: InstallSite, said: _Connecting) -> bool:
    if said.json or not sys.stdin.isatty() or not sys.stdout.isatty():
        raise InvalidInputError(
            "Nobody is here to be asked.", "Name the clients, or say --yes."
        )
    report.plan(plan, here)
    sys.stdout.write("Go on? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _again(verb: str, said: _Connecting) -> str:
    """The command to run for the same clients."""
    scope = ("--scope", said.scope) if said.scope else ()
    return " ".join(("wc", verb, *said.names, *scope))


def _complain(outcomes: Sequence[engine.PartOutcome], again: str) -> None:
    """End with the error of the first part that was refused."""
    refused = [one.error for one in outcomes if one.error is not None]
    if refused:
        parts = "1 part was" if len(refused) == 1 else f"{len(refused)} parts were"
        hint = f"Said above, with what to do; the rest is done. Then: {again}"
        raise type(refused[0])(f"{parts} left alone.", hint)
