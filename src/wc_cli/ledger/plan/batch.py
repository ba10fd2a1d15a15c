"""Many links at once: from lines of JSON, or from a markdown list."""

from __future__ import annotations

import re

from wc_cli.ledger.plan.linking import ThreadLinks
from wc_core.base.errors import ConflictError, InvalidInputError, NotFoundError
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning import kinds
from wc_core.ledger.planning.graph import OwnedLink
from wc_core.ledger.threads.model import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_core.ledger.planning.readiness import ThreadPlan
    from wc_core.ledger.threads.reader import StoreReader

# The beginning of a list item: "-", "*", "+" or "1.", and a checklist's box.
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_LEAST_WORDS = 3
_FIELDS = ("topic", "kind", "target")
_NOTHING_WRITTEN = "Nothing was written."


class WrittenLink(NamedTuple):
    """A link as it was written: its line number, its thread, and its target."""

    number: int
    owner: str
    kind: str
    target: str


def parse(text: str) -> list[WrittenLink]:
    """The links in a text, which has one on each line: ``{"topic": "ui", "kind":
    "blocked_by", "target": "api"}``, or ``- ui waits for api``. Other lines must be
    empty or headings. Raises InvalidInputError, with the number of the line."""
    links = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        try:
            is_json = stripped.startswith("{")
            link = _from_json(stripped) if is_json else _from_words(stripped)
        except InvalidInputError as error:
            message = f"Line {number}: {error.message}"
            raise InvalidInputError(message, error.hint) from error
        links.append(link._replace(number=number))
    if not links:
        raise InvalidInputError(
            "It contains no links.", "Write a link on each line: - ui waits for api"
        )
    return links


def _from_json(line: str) -> WrittenLink:
    try:
        fields = json.loads(line)
        topic, kind, target = (fields[name] for name in _FIELDS)
    except (ValueError, LookupError, TypeError, RecursionError):
        topic = kind = target = None
    if not all(isinstance(value, str) for value in (topic, kind, target)):
        raise InvalidInputError(
            "it does not have the fields of a link.",
            'Write {"topic": "ui", "kind": "blocked_by", "target": "api"}',
        )
    return _directed(str(topic), [str(kind)], str(target))


def _from_words(line: str) -> WrittenLink:
    words = _BULLET.sub("", line, count=1).replace("`", "").split()
    if len(words) < _LEAST_WORDS:
        raise InvalidInputError(
            "it is not a link.", "Write two threads and a verb: - ui waits for api"
        )
    return _directed(words[0], words[1:-1], words[-1])


def _directed(first: str, verb_words: list[str], second: str) -> WrittenLink:
    verb = kinds.verb(verb_words, first, second)
    owner, target = (second, first) if verb.is_inverse else (first, second)
    return WrittenLink(0, owner, verb.kind, target)


def additions(
    reader: StoreReader, plan: ThreadPlan, links: Iterable[WrittenLink]
) -> list[ThreadLinks]:
    """The additions to each thread, without existing links. Everything is checked
    before anything is written. Raises NotFoundError and ConflictError, with the number
    of the line."""
    added: dict[str, list[Link]] = {}
    for written in links:
        try:
            owner, target = reader.find(written.owner), reader.find(written.target)
        except NotFoundError as error:
            message = f"Line {written.number}: {error.message}"
            raise NotFoundError(message, f"{_NOTHING_WRITTEN} {error.hint}") from error
        link = Link(written.kind, target)
        present = (*plan.threads[owner].links, *added.get(owner, ()))
        if any(item[:2] == link[:2] for item in present):
            continue
        if owner == target:
            raise ConflictError(
                f"Line {written.number}: {plan.name(owner)} cannot be linked to "
                "itself.",
                _NOTHING_WRITTEN,
            )
        path = plan.would_cycle(OwnedLink(owner, link))
        if path:
            raise ConflictError(
                f"Line {written.number} would be a cycle: {' → '.join(path)}.",
                f"{_NOTHING_WRITTEN} See what waits for what: wc tree",
            )
        plan.order.add(OwnedLink(owner, link))
        added.setdefault(owner, []).append(link)
    return list(_changes(plan, added))


def _changes(plan: ThreadPlan, added: dict[str, list[Link]]) -> Iterator[ThreadLinks]:
    for owner, links in added.items():
        name = plan.name(owner)
        sentences = (
            kinds.sentence(name, link.kind, plan.name(link.topic)) for link in links
        )
        yield ThreadLinks(owner, tuple(links), tuple(sentences))
