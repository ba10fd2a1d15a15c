"""How the store is, who the caller is, and which words there are."""

from __future__ import annotations

import json
import platform
from importlib import metadata
from typing import TYPE_CHECKING, Any

from wc_core.errors import CorruptError, StorageError, WcError
from wc_core.files import names_in, read_plain
from wc_core.git import discovery, freshness, repository
from wc_core.layout import BRANCH, Layout
from wc_core.text import clean, one_line
from wc_core.threads import settings
from wc_core.threads.model import ACTIONS, ENTRY_TYPES, ROLES, STATUSES
from wc_core.version import __version__
from wc_observe import open_store
from wc_observe.answers.quoting import cleaned, word
from wc_observe.live.survey import survey
from wc_observe.watch.stores import CURRENT_WATCH
from wc_observe.watch.watcher import WATCHING

if TYPE_CHECKING:
    from wc_core.git.discovery import Place
    from wc_observe.calls import Call

_MANY = 20
_PROBLEM_WIDTH = 300
# So long logs are read in full; the next call goes on where this one ended.
_SURVEY_SECONDS = 1.0


def health(call: Call) -> dict[str, Any]:
    """What is there and what is wrong with it. Raises nothing: what fails is
    one of the ``problems``."""
    fields: dict[str, Any] = {"ok": True, "store": None}
    problems: list[str] = []
    try:
        place = discovery.find(call.folder, call.env)
        fields |= _place_fields(place, call)
        if place.exists:
            fields |= _store_fields(place, call, problems)
        else:
            problems.append(_told(open_store.missing_store(place, fields["store"])))
    except WcError as error:
        problems.append(_told(error))
    try:
        fields["you"] = open_store.caller_identity(call).author
    except WcError as error:
        problems.append(_told(error))
    if problems:
        told = [open_store.without_folders(one, call) for one in problems]
        fields |= {"ok": False, "problems": told}
    return dict(cleaned(fields | {"versions": versions()}))


def _told(error: WcError) -> str:
    return f"{error.code}: {error.message} {error.hint}".rstrip()


def _place_fields(place: Place, call: Call) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "store": open_store.store_label(place.root, call),
        "kind": place.kind,
        "exists": place.exists,
    }
    if place.kind == discovery.BRANCH_STORE:
        fields["branch"] = BRANCH
    elif place.kind == discovery.IN_TREE_STORE and place.repository is not None:
        fields["branch"] = place.repository.branch
    return fields


def _store_fields(place: Place, call: Call, problems: list[str]) -> dict[str, Any]:
    live = call.stores.at(place.root)
    live.refresh()
    found = survey(live.reader, live.sound, _SURVEY_SECONDS)
    threads: dict[str, Any] = {"total": found.total, "by_status": found.by_status}
    if found.examined < found.total:
        threads["examined"] = found.examined
    fields: dict[str, Any] = {"threads": threads}
    if found.damaged:
        fields["damaged"] = [
            {
                "topic": topic,
                "problem": one_line(
                    open_store.without_folders(text, call), _PROBLEM_WIDTH
                ),
            }
            for topic, text in found.damaged.items()
        ]
        names = list(found.damaged)
        more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
        problems.append(
            f"damaged: {', '.join(names[:_MANY])}{more}. See: wc doctor",
        )
    layout = Layout(place.root)
    try:
        fields["unsettled"] = len(names_in(layout.unsettled, layout.root))
        unsettled = _settling_problem(layout)
    except WcError as error:
        unsettled = ""
        problems.append(_told(error))
    if unsettled:
        problems.append(f"settling: {unsettled}. See: wc doctor")
    travels = place.kind == discovery.BRANCH_STORE
    where = place.repository if travels else None
    standing = freshness.standing(layout, where, call.env)
    if standing is not None:
        summary = standing.sentence(call.now_ms())
        fields["sync"] = {**standing.to_json(), "summary": summary}
        if standing.problem and standing.lasting:
            problems.append(f"sync: {standing.problem}. {standing.hint}".rstrip())
    fields |= _changes(place.root)
    for one in (fields.get("sync", {}), fields.get("changes", {})):
        said = {key: text for key, text in one.items() if isinstance(text, str)}
        one |= {
            key: open_store.without_folders(text, call) for key, text in said.items()
        }
    damage = settings.load(place.root, call.env).damage
    if damage is not None:
        problems.append(f"{damage.file}: {damage.message}")
    return fields


def _changes(root: str) -> dict[str, Any]:
    """How changes are noticed, if somebody waits to be told of them."""
    watch = CURRENT_WATCH.get(None)
    found = watch.health(root) if watch is not None else None
    if found is None:
        return {}
    return {
        "changes": {"noticed_by": found.kind}
        # A folder that nobody has needed yet is nothing to be told of.
        | ({"why": found.why} if found.why and found.kind != WATCHING else {})
    }


def _settling_problem(layout: Layout) -> str:
    """What settling last could not do; empty when all is well."""
    try:
        data = read_plain(layout.settling, layout.root)
    except OSError as error:
        raise StorageError(f"{layout.settling}: {error.strerror}.") from error
    if data is None:
        return ""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return "it left a report that cannot be read"
    problem = fields.get("problem") if isinstance(fields, dict) else fields
    text = problem if isinstance(problem, str) else json.dumps(fields)
    return one_line(text, _PROBLEM_WIDTH).rstrip(".")


def versions() -> dict[str, str]:
    """What answers: wc, the two libraries that matter, Python."""
    return {
        "wc": __version__,
        "fastmcp": metadata.version("fastmcp"),
        "mcp": metadata.version("mcp"),
        "python": platform.python_version(),
    }


def health_text(fields: dict[str, Any]) -> str:
    """Health in a few lines."""
    lines = ["health: ok" if fields["ok"] else "health: there are problems"]
    lines += [clean(f"- {one_line(one, 1000)}") for one in fields.get("problems", ())]
    if fields["store"] is not None:
        branch = f", branch {word(fields['branch'])}" if fields.get("branch") else ""
        lines.append(f"store: {fields['store']} ({fields['kind']}{branch})")
    if "threads" in fields:
        counts = fields["threads"]["by_status"].items()
        each = ", ".join(f"{count} {word(status)}" for status, count in counts)
        total = fields["threads"]["total"]
        lines.append(f"threads: {total}" + (f" ({each})" if each else ""))
        if "examined" in fields["threads"]:
            examined = fields["threads"]["examined"]
            lines.append(f"looked for damage in {examined} of them so far, ask again")
    if "unsettled" in fields:
        lines.append(f"not yet committed: {fields['unsettled']}")
    if "sync" in fields:
        lines.append(f"sync: {word(fields['sync']['summary'], 1000)}")
    if "changes" in fields:
        kind, why = fields["changes"]["noticed_by"], fields["changes"].get("why", "")
        lines.append(f"changes noticed by: {kind}" + (f"; {why}" if why else ""))
    if "you" in fields:
        lines.append(f"you: {word(fields['you'], 250)}")
    lines.append(
        "versions: " + ", ".join(f"{k} {v}" for k, v in fields["versions"].items())
    )
    return "".join(f"{line}\n" for line in lines)


def whoami(call: Call) -> dict[str, Any]:
    """Who the caller is, which rule says so, and where they are.

    Raises InvalidInputError where a name that was set cannot be one.
    """
    who = open_store.caller_identity(call)
    fields: dict[str, Any] = {
        "you": who.author,
        "agent": who.name.agent,
        "seat": who.name.seat,
        "tag": who.name.tag,
        "source": who.source,
        "client": call.client,
        "folder": open_store.store_label(call.folder, call),
    }
    try:
        place = discovery.find(call.folder, call.env)
        fields |= {
            "store": open_store.store_label(place.root, call),
            "exists": place.exists,
        }
    except CorruptError as error:
        fields |= {
            "store": None,
            "problem": open_store.without_folders(_told(error), call),
        }
    if call.subject:
        fields["subject"] = call.subject
    where = None if call.served_as else repository.find(call.folder)
    if where is not None and where.branch:
        fields["code_branch"] = where.branch
    return dict(cleaned(fields))


def whoami_text(fields: dict[str, Any]) -> str:
    """Who and where, in a few lines."""
    store = fields["store"] or one_line(fields["problem"], 1000)
    missing = "" if fields.get("exists", True) else " (not there yet: wc init)"
    on = f", branch {word(fields['code_branch'])}" if "code_branch" in fields else ""
    subject = f", as: {word(fields['subject'])}" if "subject" in fields else ""
    return (
        f"you: {word(fields['you'], 250)} (by: {fields['source']}, "
        f"client: {word(fields['client'])}{subject})\n"
        f"folder: {fields['folder']}{on}\n"
        f"store: {store}{missing}\n"
    )


def vocabulary() -> dict[str, list[str]]:
    """The words that fields of a thread and an entry may have."""
    return {
        "statuses": list(STATUSES),
        "roles": list(ROLES),
        "types": list(ENTRY_TYPES),
        "actions": list(ACTIONS),
    }


def vocabulary_text(fields: dict[str, list[str]]) -> str:
    """The same, a line for each."""
    return "".join(f"{key}: {', '.join(words)}\n" for key, words in fields.items())
