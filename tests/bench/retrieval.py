"""How often a search finds what a question is about, in real threads.

    python -m tests.bench.retrieval STORE

STORE is a folder, or a git bundle with one branch, that has threads with summaries.
Each entry is asked for by its summary, and by its title in a store without titles; and
`questions.toml` has questions in someone's own words about the threads of one project.
A question is answered at n if the entry, or one of the thread, is among the first n.
The last column is about words and meaning, with the model of the extra `meaning`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.ledger.index import entriesfile
from wc_core.base.names import Directory, parse
from wc_core.ledger.threads.reader import StoreReader
from wc_core.lookup.index.keys import thread_keys
from wc_core.people.identity.resolve import Identity
from wc_core.people.identity.viewer import Viewer
from wc_core.reading.meaning.asking import Meaning
from wc_core.reading.meaning.models import LOCAL
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import search
from wc_core.reading.views.search.indexed import EntryFiles, IndexedSearch
from wc_core.reading.views.search.query import ALL, ANY, AUTO, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

QUESTIONS = Path(__file__).with_name("questions.toml")
_HITS = 5
_SHORTEST_SUMMARY = 20


class Asked(NamedTuple):
    """A question, and whether a hit (topic, entry id) answers it."""

    text: str
    answers: Callable[[str, str], bool]


class Rate(NamedTuple):
    """How many of the questions were answered by the first hit, and by one of five."""

    first: float
    five: float


def _later() -> int:
    """A clock by which nothing was written just now."""
    return time.time_ns() + 10_000_000_000


def rate(
    root: Path, questions: Iterable[Asked], mode: str, *, by_meaning: bool = False
) -> Rate:
    """Asks all of the questions; ``by_meaning`` of a store with vectors."""
    reader = StoreReader(str(root))
    meaning = None
    if by_meaning:
        by_key = partial(thread_keys, reader.layout)
        meaning = Meaning(reader, by_key, {"WATERCOOLER_MEANING": "on"})
    overview = Overview(reader, Viewer(Identity(parse("nobody"), ""), Directory()))
    # By reading the logs, the table takes several times as long.
    Path(root, ".local").mkdir(exist_ok=True)
    entriesfile.rebuild(reader, _later)
    engine = IndexedSearch(reader, EntryFiles(reader.layout), overview.keys)
    count = first = five = 0
    for asked in questions:
        question = Question(asked.text, Filter(), _HITS, mode=mode)
        hits = search(engine, overview, question, meaning).hits
        right = [asked.answers(hit.topic, hit.numbered.entry.id) for hit in hits]
        count += 1
        first += any(right[:1])
        five += any(right)
    return Rate(first / count, five / count) if count else Rate(0, 0)


def by_summary(root: Path) -> list[Asked]:
    """Each entry's summary, without the tags that the older tool adds to it."""
    asked = []
    for topic, entry in _entries(root):
        summary = str(entry.get("summary") or "").partition("tags:")[0].strip()
        if len(summary) > _SHORTEST_SUMMARY:
            asked.append(_for_entry(summary, topic, entry))
    return asked


def by_title(root: Path) -> list[Asked]:
    """Each entry's title."""
    return [_for_entry(str(e["title"]), t, e) for t, e in _entries(root) if e["title"]]


def by_questions() -> list[Asked]:
    """The questions of the file."""
    with QUESTIONS.open("rb") as file:
        items = tomllib.load(file)["question"]
    return [_for_thread(item["text"], item["topic"]) for item in items]


def _for_entry(text: str, topic: str, entry: dict[str, object]) -> Asked:
    place = (topic, entry["entry_id"])
    return Asked(text, lambda name, entry_id: (name, entry_id) == place)


def _for_thread(text: str, topic: str) -> Asked:
    return Asked(text, lambda name, _: name == topic)


def _entries(root: Path) -> Iterable[tuple[str, dict[str, object]]]:
    for path in sorted(root.glob("graph/baseline/threads/*/entries.jsonl")):
        for line in path.read_text().splitlines():
            yield path.parent.name, json.loads(line)


def without_titles(root: Path, copy: Path) -> Path:
    """Makes a copy of a store whose entries have no titles."""
    for path in root.glob("graph/baseline/threads/*/entries.jsonl"):
        target = copy / path.relative_to(root)
        target.parent.mkdir(parents=True)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        bare = [json.dumps(line | {"title": ""}) + "\n" for line in lines]
        target.write_text("".join(bare))
    return copy


def make_vectors(root: Path) -> bool:
    """Makes the vectors of all entries with the model on this machine. Returns False
    if it is not installed."""
    if not all(map(find_spec, ("numpy", "tokenizers", "wordllama"))):
        return False
    from wc_cli.bridges.enrich import enriching  # needs NumPy

    Path(root, ".local").mkdir(exist_ok=True)
    enriching.enrichment(StoreReader(str(root)), LOCAL, {}).run()
    return True


def table(root: Path, scratch: Path) -> str:
    """Returns the rates as a table in markdown."""
    untitled = without_titles(root, scratch / "untitled")
    rows = {
        "an entry's summary": (root, by_summary(root)),
        "its title, in a store without titles": (untitled, by_title(root)),
        "a question in other words, for a thread": (root, by_questions()),
    }
    lines = [
        "| asked with | questions | `--all` | `--any` | neither | with meaning |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, (store, questions) in rows.items():
        rates = [rate(store, questions, mode) for mode in (ALL, ANY, AUTO)]
        shown = [f"{one.first:.2f} / {one.five:.2f}" for one in rates]
        if make_vectors(store):
            meant = rate(store, questions, AUTO, by_meaning=True)
            shown.append(f"{meant.first:.2f} / {meant.five:.2f}")
        else:
            shown.append("not installed")
        lines.append(f"| {name} | {len(questions)} | {' | '.join(shown)} |")
    return "\n".join(lines)


def main(source: Path) -> None:
    """Prints the table for a folder or a bundle."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        if source.is_file():
            clone = ["git", "clone", "--quiet", "--branch", "sample"]
            subprocess.run([*clone, source, scratch / "store"], check=True)
            source = scratch / "store"
        else:
            source = Path(shutil.copytree(source, scratch / "store", symlinks=True))
        sys.stdout.write(f"{table(source, scratch)}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
