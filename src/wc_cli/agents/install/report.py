"""The output of wc install: plans, outcomes, states."""

from __future__ import annotations

import os

from wc_cli.agents.install import engine
from wc_cli.agents.install.clients import registry
from wc_cli.agents.install.searchpath import login_problems, path_remedy
from wc_cli.agents.launcher import is_ours, own_program
from wc_cli.run.output import say, say_json
from wc_cli.run.terminal.style import is_for_people, output_style
from wc_core.base.agents import AGENTS
from wc_core.base.phrases import counted, quoted, shown_path
from wc_core.base.programs import find_program
from wc_core.base.text import clean, one_line
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from wc_cli.agents.install.changes import InstallSite
    from wc_cli.agents.install.engine import PartOutcome, Plan
    from wc_cli.agents.install.ledger import Owner

_GREEN, _YELLOW, _RED, _DIM = "32", "33", "31", "2"
_COLORS = {
    engine.INSTALLED: _GREEN,
    engine.FOREIGN: _GREEN,
    engine.OUTDATED: _YELLOW,
    engine.CHANGED: _YELLOW,
    engine.UNREADABLE: _RED,
    "removed": _GREEN,
    "taken out of": _GREEN,
    "will be taken out": _YELLOW,
    "will change": _YELLOW,
    "left": _YELLOW,
    "refused": _RED,
}
_BOLD, _CYAN = "1", "36"
_DIFF = {"+": (_GREEN,), "-": (_RED,), "@@": (_CYAN,)}
_PLANNED = {"install": "will change", "uninstall": "will be taken out"}
_TAKEN_OUT = "taken out of"
# The word for a part that a command changed.
_DONE = {"install": engine.INSTALLED, "uninstall": "removed"}
_TITLES = {client.name: client.title for client in registry.CLIENTS}


class _Row(NamedTuple):
    """One part in a table; ``detail`` may have several lines."""

    owner: Owner
    state: str
    detail: str = ""


def print_plan(plan: Plan, site: InstallSite, verb: str) -> None:
    """Print what ``verb``, install or uninstall, would change, in a few lines."""
    _print_parts(plan.outcomes, site, _PLANNED[verb])
    files = counted(len(plan.workspace.changed()), "file")
    say(f"{files} will change. To see the changes: --dry-run")


def print_dry_run(
    plan: Plan, site: InstallSite, verb: str, *, as_json: bool, is_verbose: bool
) -> None:
    """Print which parts would change, then the lines that would, through a person's
    pager if both are longer than the screen. Our own files are shown by their length
    only, unless verbose."""
    if as_json:
        parts = [_part_fields(outcome, "install") for outcome in plan.outcomes]
        say_json({"scope": site.scope, "dry_run": True, "parts": parts})
        return
    lines = list(_part_lines(plan.outcomes, site, _PLANNED[verb]))
    diff = clean(plan.diff(whole=is_verbose))
    if not diff:
        say("\n".join([*lines, "Nothing would change."]))
        return
    paint = output_style(site.env)
    lines += ["", *(paint(line, *_diff_codes(line)) for line in diff.splitlines())]
    if diff != clean(plan.diff(whole=True)):
        lines += ["", paint("Every line of these files: --dry-run --verbose", _DIM)]
    from wc_cli.run.terminal import pager  # 20 ms, only to show a plan

    text = (f"{line}\n" for line in lines)
    pager.page_parts(text, pager.person_pager(site.env), site.env)


def _diff_codes(line: str) -> tuple[str, ...]:
    """Return the colours of a diff line, as git shows it."""
    if line.startswith(("--- ", "+++ ")):
        return (_BOLD,)
    if line.startswith((engine.NEW_FILE, engine.REMOVED_FILE)):
        return (_DIM,)
    return next((codes for sign, codes in _DIFF.items() if line.startswith(sign)), ())


def print_outcomes(
    outcomes: Sequence[PartOutcome], site: InstallSite, verb: str, *, as_json: bool
) -> None:
    """Print what was done, and what is left for the user to do."""
    problems: tuple[str, ...] = ()
    if verb == "install":
        owners = [outcome.owner for outcome in outcomes]
        # Only a person opens a new terminal next; login shells take a while.
        done = (outcome.owner for outcome in outcomes if outcome.error is None)
        problems = _problems(owners, done if is_for_people(site.env) else (), site)
    if as_json:
        parts = [_part_fields(outcome, verb) for outcome in outcomes]
        say_json({"scope": site.scope, "parts": parts, "warnings": problems})
        return
    _print_parts(outcomes, site, _DONE[verb])
    changed = (outcome for outcome in outcomes if outcome.files)
    for note in dict.fromkeys(note for outcome in changed for note in outcome.notes):
        _print_action(f"next: {note}", site)
    _print_warnings(problems, site)
    if verb == "install":
        say(f"Try it: {_first_command(outcomes, site)}")


def _first_command(outcomes: Iterable[PartOutcome], site: InstallSite) -> str:
    """Return the command to try next: in a repository, a thread for an agent that was
    connected; elsewhere the demo."""
    if site.project is None:
        return "wc demo"
    clients = {outcome.owner.client for outcome in outcomes if outcome.error is None}
    agent = next((agent.name for agent in AGENTS if agent.client in clients), "")
    to = f" --to {quoted(agent)}" if agent else ""
    return f"wc new hello -m 'Say hello'{to}"


def print_states(
    states: Sequence[tuple[Owner, str]], site: InstallSite, *, as_json: bool
) -> None:
    """Print the state of each part."""
    owners = [owner for owner, _ in states]
    installed = [owner for owner, state in states if state in engine.PRESENT]
    problems = _problems(owners, installed, site)
    if as_json:
        parts = [{**_owner_fields(owner), "state": state} for owner, state in states]
        say_json({"scope": site.scope, "parts": parts, "warnings": problems})
        return
    for line in _row_lines([_Row(owner, state) for owner, state in states], site):
        say(line)
    if not states:
        say("No client was found.")
    _print_warnings(problems, site)


def _problems(
    owners: Iterable[Owner], in_shells: Iterable[Owner], site: InstallSite
) -> tuple[str, ...]:
    """The reasons why these parts would not work. For the parts ``in_shells``, login
    shells are asked, too."""
    login = tuple(login_problems(in_shells, site))
    # If `wc` is missing in both, the advice for the login shell is more precise.
    is_covered = any("`wc`" in problem for problem in login)
    here = () if is_covered else _shell_warning(site)
    return (*here, *login, *_server_warning(owners, site))


def _shell_warning(site: InstallSite) -> Iterator[str]:
    first = find_program(site.env, "wc")
    if not first or not is_ours(first, "wc"):
        yield f"`wc` is the system's for your shell: {path_remedy(site.env)}."


def _server_warning(owners: Iterable[Owner], site: InstallSite) -> Iterator[str]:
    parts = {owner.part for owner in owners}
    if "server" in parts and not find_program(site.env, "wc-observe"):
        remedy = "its full path is used" if own_program("wc-observe") else "install it"
        yield f"wc-observe is not on PATH: {remedy}."


def _print_warnings(problems: Iterable[str], site: InstallSite) -> None:
    for problem in problems:
        _print_action(f"note: {problem}", site)


def _print_action(line: str, site: InstallSite) -> None:
    """Print a line that asks the user to do something, so that it stands out."""
    say(output_style(site.env)(one_line(line), _BOLD, _YELLOW))


def _print_parts(outcomes: Iterable[PartOutcome], site: InstallSite, done: str) -> None:
    for line in _part_lines(outcomes, site, done):
        say(line)


def _part_lines(
    outcomes: Iterable[PartOutcome], site: InstallSite, done: str
) -> Iterator[str]:
    """Yield a line for each part, or two for an error. ``done`` is the word for a part
    that changes."""
    rows = [
        _Row(
            outcome.owner,
            _shown_state(outcome, _outcome_state(outcome, done)),
            _outcome_detail(outcome, site),
        )
        for outcome in outcomes
    ]
    yield from _row_lines(rows, site)


def _row_lines(rows: Sequence[_Row], site: InstallSite) -> Iterator[str]:
    """Yield rows in columns. A client's name only precedes its first part."""
    paint = output_style(site.env)
    titles = [_owner_title(row.owner, site) for row in rows]
    title_width = max((len(title) for title in titles), default=0)
    part_width = max((len(row.owner.part) for row in rows), default=0)
    state_width = max((len(row.state) for row in rows), default=0)
    previous = ""
    for title, row in zip(titles, rows, strict=True):
        first, *hints = row.detail.split("\n")
        padded = row.state.ljust(state_width if first else 0)
        state = paint(padded, _COLORS.get(row.state, _DIM))
        lead = ("" if title == previous else title).ljust(title_width)
        part = row.owner.part.ljust(part_width)
        yield f"{lead}  {part}  {state}  {one_line(first)}".rstrip()
        for line in hints:
            yield f"{' ' * (title_width + part_width + 4)}{one_line(line)}"
        previous = title


def _owner_title(owner: Owner, site: InstallSite) -> str:
    title = one_line(_TITLES.get(owner.client, owner.client))
    project = shown_path(owner.project, site.env) if owner.project else ""
    return f"{title} ({project})" if project else title


def _outcome_state(outcome: PartOutcome, done: str) -> str:
    """The word for an outcome."""
    if outcome.error is not None:
        return "refused"
    if outcome.edited:
        return "left"
    if outcome.removed and done == engine.INSTALLED:
        return "removed"
    return done if outcome.files or outcome.removed else engine.FOREIGN


def _shown_state(outcome: PartOutcome, state: str) -> str:
    """The word for an outcome, before its files. Files that stay have only lost our
    part."""
    stays = state == "removed" and any(map(os.path.exists, outcome.files))
    return _TAKEN_OUT if stays else state


def _outcome_detail(outcome: PartOutcome, site: InstallSite) -> str:
    """The files of a part, or the reason why it was refused."""
    home = os.path.realpath(site.home)
    if outcome.error is not None:
        message = outcome.error.message.replace(f"{home}/", "~/")
        return f"{message}\n{outcome.error.hint}"
    if outcome.edited:
        names = ", ".join(shown_path(path, site.env) for path in outcome.edited)
        return f"{names}: changed since, so it is yours"
    return ", ".join(_file_names(outcome.files or outcome.paths, site))


def _file_names(paths: Iterable[str], site: InstallSite) -> Iterator[str]:
    """Yield the paths; of several in one folder, the folder and their names."""
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        folder, name = os.path.split(shown_path(path, site.env))
        by_folder.setdefault(folder, []).append(name)
    for folder, names in by_folder.items():
        joined = names[0] if len(names) == 1 else f"{{{','.join(names)}}}"
        yield os.path.join(folder, joined)


def _owner_fields(owner: Owner) -> dict[str, Any]:
    return {**owner._asdict(), "project": owner.project or None}


def _part_fields(outcome: PartOutcome, verb: str) -> dict[str, Any]:
    """One part as JSON."""
    fields = {
        **_owner_fields(outcome.owner),
        "state": _outcome_state(outcome, _DONE[verb]),
        "files": outcome.files,
        "notes": outcome.notes,
    }
    if outcome.edited:
        fields["left"] = outcome.edited
    if outcome.error is not None:
        error = {"code": outcome.error.code, "message": outcome.error.message}
        fields["error"] = {**error, "hint": outcome.error.hint}
    return fields
