"""What wc install says: plans, results, states."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from wc_cli.install import engine
from wc_cli.install.changes import beside, is_ours
from wc_cli.install.clients import registry
from wc_cli.output import say, say_json
from wc_cli.terminal.render import output_style
from wc_core.phrases import counted, quoted, shown_path
from wc_core.text import clean, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_cli.install.changes import InstallSite
    from wc_cli.install.engine import PartOutcome, Plan
    from wc_cli.install.ledger import Owner

_GREEN, _YELLOW, _RED, _DIM = "32", "33", "31", "2"
_COLORS = {
    engine.INSTALLED: _GREEN,
    engine.FOREIGN: _GREEN,
    engine.OUTDATED: _YELLOW,
    engine.CHANGED: _YELLOW,
    engine.UNREADABLE: _RED,
    "removed": _GREEN,
    "will change": _YELLOW,
    "left": _YELLOW,
    "refused": _RED,
}
_TITLES = {one.name: one.title for one in registry.CLIENTS}


def plan(found: Plan, here: InstallSite) -> None:
    """What would change, in a few lines."""
    _table(found.outcomes, here, "will change")
    files = counted(len(found.workspace.changed()), "file")
    say(f"{files} will change. Every line of it: --dry-run")


def dry_run(found: Plan, here: InstallSite, *, as_json: bool) -> None:
    """What would change, line by line."""
    if as_json:
        parts = [_part(one, "install") for one in found.outcomes]
        say_json({"scope": here.scope, "dry_run": True, "parts": parts})
        return
    refused = [one for one in found.outcomes if one.error is not None]
    _table(refused, here, "")
    say(clean(found.diff) or "Nothing would change.")


def outcomes(
    done: Sequence[PartOutcome], here: InstallSite, verb: str, *, as_json: bool
) -> None:
    """What was done, and what is left for the person."""
    asked = verb == "install"
    warned = tuple(warnings((one.owner for one in done), here)) if asked else ()
    if as_json:
        parts = [_part(one, verb) for one in done]
        say_json({"scope": here.scope, "parts": parts, "warnings": warned})
        return
    word = engine.INSTALLED if verb == "install" else "removed"
    _table(done, here, word)
    notes = dict.fromkeys(note for one in done if one.files for note in one.notes)
    for note in notes:
        say(one_line(f"next: {note}"))
    for warning in warned:
        say(one_line(f"note: {warning}"))


def states(
    found: Iterable[tuple[Owner, str]], here: InstallSite, *, as_json: bool
) -> None:
    """How each part stands."""
    found = list(found)
    warned = tuple(warnings((owner for owner, _ in found), here))
    if as_json:
        parts = [{**_owner(owner), "state": state} for owner, state in found]
        say_json({"scope": here.scope, "parts": parts, "warnings": warned})
        return
    _rows(((owner, state, "") for owner, state in found), here)
    if not found:
        say("No client was found.")
    for warning in warned:
        say(one_line(f"note: {warning}"))


def warnings(owners: Iterable[Owner], here: InstallSite) -> Iterator[str]:
    """What would keep these parts from working."""
    parts = {one.part for one in owners}
    path = here.env.get("PATH", "")
    first = shutil.which("wc", path=path)
    ours = beside("wc")
    where = quoted(os.path.dirname(ours)) if ours else "the folder of wc-cli"
    if first is None or not is_ours(first, "wc"):
        yield f"`wc` is the system's for your shell: put {where} first in PATH."
    if "server" in parts and shutil.which("wc-observe", path=path) is None:
        said = "its whole path is used" if beside("wc-observe") else "install it"
        yield f"wc-observe is not on PATH: {said}."


def _table(done: Iterable[PartOutcome], here: InstallSite, word: str) -> None:
    """A line for each part; an error has two."""
    _rows(((one.owner, _state(one, word), _said(one, here)) for one in done), here)


def _rows(rows: Iterable[tuple[Owner, str, str]], here: InstallSite) -> None:
    rows = list(rows)
    paint = output_style(here.env)
    names = [_title(owner, here) for owner, _, _ in rows]
    wide = max([*(len(one) for one in names), 0])
    part = max([*(len(owner.part) for owner, _, _ in rows), 0])
    state = max([*(len(one) for _, one, _ in rows), 0])
    last = ""
    for name, (owner, how, said) in zip(names, rows, strict=True):
        first, *more = said.split("\n")
        shown = paint(how.ljust(state if first else 0), _COLORS.get(how, _DIM))
        head = ("" if name == last else name).ljust(wide)
        say(f"{head}  {owner.part.ljust(part)}  {shown}  {one_line(first)}".rstrip())
        for line in more:
            say(f"{' ' * (wide + part + 4)}{one_line(line)}")
        last = name


def _title(owner: Owner, here: InstallSite) -> str:
    title = one_line(_TITLES.get(owner.client, owner.client))
    project = shown_path(owner.project, here.env) if owner.project else ""
    return f"{title} ({project})" if project else title


def _state(outcome: PartOutcome, word: str) -> str:
    if outcome.error is not None:
        return "refused"
    if outcome.left:
        return "left"
    if outcome.removed and word == engine.INSTALLED:
        return "removed"
    return word if outcome.files or outcome.removed else engine.FOREIGN


def _said(outcome: PartOutcome, here: InstallSite) -> str:
    """Files, or the reason."""
    home = os.path.realpath(here.home)
    if outcome.error is not None:
        message = outcome.error.message.replace(f"{home}/", "~/")
        return f"{message}\n{outcome.error.hint}"
    if outcome.left:
        names = ", ".join(shown_path(one, here.env) for one in outcome.left)
        return f"{names}: changed since, so it is yours"
    files = outcome.files or outcome.where
    return ", ".join(shown_path(one, here.env) for one in files)


def _owner(owner: Owner) -> dict[str, Any]:
    return {**owner._asdict(), "project": owner.project or None}


def _part(one: PartOutcome, verb: str) -> dict[str, Any]:
    """The shape of one part."""
    word = engine.INSTALLED if verb == "install" else "removed"
    fields = {
        **_owner(one.owner),
        "state": _state(one, word),
        "files": one.files,
        "notes": one.notes,
    }
    if one.left:
        fields["left"] = one.left
    if one.error is not None:
        error = {"code": one.error.code, "message": one.error.message}
        fields["error"] = {**error, "hint": one.error.hint}
    return fields
