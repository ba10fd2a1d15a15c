"""Health, whoami, and the words that threads and entries use: what the server knows
about a store before it is asked about threads."""

from __future__ import annotations

import json
import platform
import time
from collections import Counter
from importlib import metadata
from typing import TYPE_CHECKING, Any

from wc_core.base.errors import CorruptError, StorageError, WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import BRANCH, Layout
from wc_core.base.names import Directory, Name
from wc_core.base.text import clean, one_line
from wc_core.base.values import NamedTuple
from wc_core.base.version import __version__
from wc_core.ledger.git import contact, discovery, freshness, repository
from wc_core.ledger.threads import settings
from wc_core.ledger.threads.model import (
    ACTIONS,
    ENTRY_TYPES,
    KINDS,
    ROLES,
    SEVERITIES,
    STATUSES,
)
from wc_core.people.identity.resolve import Identity
from wc_core.people.identity.viewer import Viewer
from wc_core.reading.views.overview import Overview
from wc_observe.answers.quoting import clean_json, word
from wc_observe.callers.open_store import (
    CountingReader,
    caller_identity,
    missing_store,
    store_label,
    without_folders,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.ledger.git.discovery import Place
    from wc_core.ledger.threads.reader import Thread
    from wc_observe.callers.calls import Call

_MANY = 20
_PROBLEM_WIDTH = 300
# Logs are read in full for this long.
_SURVEY_SECONDS = 0.5
# Who counts threads does not matter, and the caller's name may be invalid.
_NOBODY = Viewer(Identity(Name("wc"), ""), Directory())


class HealthPart(NamedTuple):
    """The fields of one aspect, and its problems."""

    fields: dict[str, Any]
    problems: list[str]


def health_fields(call: Call) -> dict[str, Any]:
    """Returns the facts and problems of one aspect. Raises nothing: an error becomes
    one of the ``problems``."""
    fields: dict[str, Any] = {"ok": True, "store": None}
    problems: list[str] = []
    try:
        place = discovery.find(call.folder, call.env)
        fields |= _place_fields(place, call)
        for part in _store_parts(place, call):
            fields |= part.fields
            problems += part.problems
    except WcError as error:
        problems.append(error_line(error))
    try:
        fields["you"] = caller_identity(call).author
    except WcError as error:
        problems.append(error_line(error))
    if problems:
        visible = [without_folders(problem, call) for problem in problems]
        fields |= {"ok": False, "problems": visible}
    return dict(clean_json(fields | {"versions": versions()}))


def error_line(error: WcError) -> str:
    """Returns an error on one line."""
    return f"{error.code}: {error.message} {error.hint}".rstrip()


def _place_fields(place: Place, call: Call) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "store": store_label(place.root, call),
        "kind": place.kind,
        "exists": place.exists,
    }
    if place.kind == discovery.BRANCH_STORE:
        fields["branch"] = BRANCH
    elif place.kind == discovery.IN_TREE_STORE and place.repository is not None:
        fields["branch"] = place.repository.branch
    return fields


def _store_parts(place: Place, call: Call) -> Iterator[HealthPart]:
    if not place.exists:
        raise missing_store(place, store_label(place.root, call), call.env)
    layout = Layout(place.root)
    yield _threads_part(place, call)
    yield _settling_part(layout)
    yield _sync_part(place, layout, call)
    damage = settings.load(place.root, call.env).damage
    if damage is not None:
        yield HealthPart({}, [f"{damage.file}: {damage.message}"])


def _threads_part(place: Place, call: Call) -> HealthPart:
    """Counts the threads, and names the damaged ones."""
    reader = CountingReader(place.root, call.progress)
    result = survey(Overview(reader, _NOBODY), _SURVEY_SECONDS)
    threads: dict[str, Any] = {"total": result.total, "by_status": result.by_status}
    if result.examined < result.total:
        threads["examined"] = result.examined
    if not result.damaged:
        return HealthPart({"threads": threads}, [])
    damaged = [
        {
            "topic": topic,
            "problem": one_line(without_folders(text, call), _PROBLEM_WIDTH),
        }
        for topic, text in result.damaged.items()
    ]
    names = list(result.damaged)
    hidden = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    problem = f"damaged: {', '.join(names[:_MANY])}{hidden}. See: wc doctor"
    return HealthPart({"threads": threads, "damaged": damaged}, [problem])


def _settling_part(layout: Layout) -> HealthPart:
    """Counts what is not committed yet, and says why if that failed."""
    fields: dict[str, Any] = {}
    try:
        fields["unsettled"] = len(names_in(layout.unsettled, layout.root))
        problem = _settling_problem(layout)
    except WcError as error:
        return HealthPart(fields, [error_line(error)])
    problems = [f"settling: {problem}. See: wc doctor"] if problem else []
    return HealthPart(fields, problems)


def _settling_problem(layout: Layout) -> str:
    """Returns why settling last failed, or an empty string.

    Raises StorageError if its report cannot be read.
    """
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


def _sync_part(place: Place, layout: Layout, call: Call) -> HealthPart:
    """Compares the store with its remote; nothing if it has none."""
    syncs = place.kind == discovery.BRANCH_STORE
    standing = freshness.standing(layout, place.repository if syncs else None, call.env)
    if standing is None:
        return HealthPart({}, [])
    sync = {**standing.to_json(), "summary": standing.sentence(call.now_ms())}
    problems = []
    if standing.problem and standing.lasting and not standing.travels:
        problems = [f"sync: {standing.problem}. {standing.hint}".rstrip()]
    if unasked := contact.unasked(place, call.env):
        problems.append(str(unasked))
    return HealthPart({"sync": _without_folders_in(sync, call)}, problems)


def _without_folders_in(fields: dict[str, Any], call: Call) -> dict[str, Any]:
    return {
        key: without_folders(value, call) if isinstance(value, str) else value
        for key, value in fields.items()
    }


def versions() -> dict[str, str]:
    """Returns the versions of wc, of the two libraries that matter, and of Python."""
    return {
        "wc": __version__,
        "fastmcp": metadata.version("fastmcp"),
        "mcp": metadata.version("mcp"),
        "python": platform.python_version(),
    }


def health_text(fields: dict[str, Any]) -> str:
    """Returns the same facts as a few lines."""
    numbers = ", ".join(f"{name} {text}" for name, text in fields["versions"].items())
    lines = [
        "health: ok" if fields["ok"] else "health: there are problems",
        *(clean(f"- {one_line(line, 1000)}") for line in fields.get("problems", ())),
        *_store_lines(fields),
        *_threads_lines(fields),
        *_change_lines(fields),
        *([f"you: {word(fields['you'], 250)}"] if "you" in fields else []),
        f"versions: {numbers}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _store_lines(fields: dict[str, Any]) -> Iterator[str]:
    if fields["store"] is not None:
        branch = f", branch {word(fields['branch'])}" if fields.get("branch") else ""
        yield f"store: {fields['store']} ({fields['kind']}{branch})"


def _threads_lines(fields: dict[str, Any]) -> Iterator[str]:
    threads = fields.get("threads")
    if threads is None:
        return
    statuses = ", ".join(
        f"{count} {word(status)}" for status, count in threads["by_status"].items()
    )
    yield f"threads: {threads['total']}" + (f" ({statuses})" if statuses else "")
    if "examined" in threads:
        yield f"looked for damage in {threads['examined']} of them; in all: wc doctor"


def _change_lines(fields: dict[str, Any]) -> Iterator[str]:
    if "unsettled" in fields:
        yield f"not yet committed: {fields['unsettled']}"
    if "sync" in fields:
        yield f"sync: {word(fields['sync']['summary'], 1000)}"


def vocabulary_fields() -> dict[str, list[str]]:
    """Returns the possible values of the thread and entry fields that have a fixed
    list."""
    return {
        "statuses": list(STATUSES),
        "roles": list(ROLES),
        "types": list(ENTRY_TYPES),
        "kinds": list(KINDS),
        "severities": list(SEVERITIES),
        "actions": list(ACTIONS),
    }


def vocabulary_text(fields: dict[str, list[str]]) -> str:
    """Returns one line per field."""
    return "".join(f"{key}: {', '.join(words)}\n" for key, words in fields.items())


def whoami_fields(call: Call) -> dict[str, Any]:
    """Returns who the caller is, which rule determined it, and where they are.

    Raises InvalidInputError if a configured name is not valid.
    """
    identity = caller_identity(call)
    fields: dict[str, Any] = {
        "you": identity.author,
        "agent": identity.name.agent,
        "seat": identity.name.seat,
        "tag": identity.name.tag,
        "source": identity.source,
        "client": call.client,
        "folder": store_label(call.folder, call),
    }
    try:
        place = discovery.find(call.folder, call.env)
        fields |= {"store": store_label(place.root, call), "exists": place.exists}
    except CorruptError as error:
        fields |= {"store": None, "problem": without_folders(error_line(error), call)}
    if call.subject:
        fields["subject"] = call.subject
    code = None if call.store_name else repository.find(call.folder)
    if code is not None and code.working_branch:
        fields["code_branch"] = code.working_branch
    return dict(clean_json(fields))


def whoami_text(fields: dict[str, Any]) -> str:
    """Returns who and where in three lines."""
    store = fields["store"] or one_line(fields["problem"], 1000)
    missing = "" if fields.get("exists", True) else " (does not exist yet: wc init)"
    on = f", branch {word(fields['code_branch'])}" if "code_branch" in fields else ""
    subject = f", as: {word(fields['subject'])}" if "subject" in fields else ""
    return (
        f"you: {word(fields['you'], 250)} (by: {fields['source']}, "
        f"client: {word(fields['client'])}{subject})\n"
        f"folder: {fields['folder']}{on}\n"
        f"store: {store}{missing}\n"
    )


class StoreSurvey(NamedTuple):
    """Threads by status, the damage of each damaged thread, and how many logs have been
    read in full (damage shows nowhere else)."""

    by_status: dict[str, int]
    damaged: dict[str, str]
    examined: int

    @property
    def total(self) -> int:
        """The number of threads, including unreadable ones."""
        return sum(self.by_status.values())


def survey(overview: Overview, seconds: float) -> StoreSurvey:
    """Counts the threads, and reads logs in full for up to ``seconds``, first those
    that are known to be damaged.

    Raises StorageError or CorruptError only if the threads cannot be listed.
    """
    until, reader = time.monotonic() + seconds, overview.reader
    rows = overview.rows()
    rows.sort(key=lambda row: (not row.damaged, row.topic))
    by_status = Counter(one_line(row.status, _PROBLEM_WIDTH) for row in rows)
    damaged: dict[str, str] = {}
    examined = 0
    for row in rows:
        problem = None
        try:
            if time.monotonic() < until:
                problem = _damage(reader.thread(row.topic))
            elif row.damaged:
                reader.snapshot(row.topic)
            else:
                break
        except WcError as error:
            problem = error.message
        examined += problem is not None
        if problem:
            damaged[row.topic] = problem
    return StoreSurvey(dict(by_status), dict(sorted(damaged.items())), examined)


def _damage(thread: Thread) -> str:
    lost = [damage for damage in thread.damage if damage.lost]
    return f"{lost[0].place}: {lost[0].message}" if lost else ""
