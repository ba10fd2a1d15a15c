"""``wc project``: the threads of many repositories in one graph database."""

from __future__ import annotations

import os
import sys

from wc_cli.bridges.graphdb import comparing, projecting
from wc_cli.bridges.graphdb.connection import GraphConnection
from wc_cli.bridges.graphdb.projecting import Projection, Source
from wc_cli.bridges.graphdb.vectors import kept_vectors
from wc_cli.run.options import Options, argument, command, flag, text, words
from wc_cli.run.output import remark, say, say_json
from wc_core.attention.inbox.stores import known_stores
from wc_core.base.errors import FindingsError, InvalidInputError, NotFoundError
from wc_core.base.phrases import counted, shown_path
from wc_core.base.text import one_line
from wc_core.ledger.git import discovery
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.graphdb import address
from wc_core.reading.graphdb.identity import repository_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wc_cli.bridges.graphdb.projecting import Projected, StoredRepository
    from wc_cli.run.context import Context
    from wc_core.reading.graphdb.identity import GraphRepository


class ProjectOptions(Options):
    """Update a graph database with the threads of this repository, or of those in the
    folders."""

    graph: str = argument("URL", "The graph: falkordb://HOST:PORT/GRAPH.")
    folders: tuple[str, ...] = words("FOLDER...", "Other repositories.", default=())
    all: bool = flag("--all", help="All repositories of this machine.")
    check: bool = flag("--check", help="Compare only; exit 9 if anything differs.")
    full: bool = flag("--full", help="Write everything again, not only changes.")
    take_over: bool = flag(
        "--take-over",
        help="Become the source of a repository that was projected from elsewhere.",
    )
    remove: str = text("--remove", "ID", "Remove a repository from the graph.")
    yes: bool = flag("--yes", help="With --remove: do not ask.")


@command(ProjectOptions)
def project(context: Context, options: ProjectOptions) -> None:
    """Project stores into a graph, or compare them with it."""
    place = address.parse(options.graph, context.env)
    if options.remove:
        with GraphConnection(place) as graph:
            _remove(graph, options)
        return
    if options.yes:
        raise InvalidInputError(
            "--yes only works with --remove.",
            "Leave it out: without --remove, nothing is asked.",
        )
    sources = _sources(context, options)
    with GraphConnection(place) as graph:
        if options.check:
            projecting.check_version(graph)
            _check(graph, sources, options)
        else:
            _project(graph, sources, options)


def _project(
    graph: GraphConnection, sources: Sequence[Source], options: ProjectOptions
) -> None:
    """Update the graph from each store."""
    projecting.prepare(graph)
    results = []
    for source in sources:
        projecting.claim(graph, source.repository, take_over=options.take_over)
        result = Projection(graph, source, full=options.full).run()
        results.append(_json(source, result))
        if not options.json:
            say(one_line(_sentence(source, result)))
        for topic in result.unreadable:
            remark(one_line(f"not read: {source.repository.name}: {topic}: wc doctor"))
    if options.json:
        say_json({"graph": graph.address.label, "repositories": results})


def _remove(graph: GraphConnection, options: ProjectOptions) -> None:
    """Remove a repository from the graph, if the user agrees."""
    if (
        options.folders
        or options.all
        or options.check
        or options.full
        or options.take_over
    ):
        raise InvalidInputError(
            "--remove takes the id of a repository, and --yes.",
            "Such as: wc project URL --remove github.com/acme/app",
        )
    stored = projecting.stored_repository(graph, options.remove)
    is_wanted = options.yes or _confirmed(graph, stored)
    if is_wanted:
        projecting.remove_repository(graph, stored.id)
    if options.json:
        label = graph.address.label
        say_json({"graph": label, "removed": is_wanted, **stored._asdict()})
    elif is_wanted:
        say(one_line(f"removed from the graph: {_contents(stored)}"))
    else:
        remark("Nothing was removed.")


def _confirmed(graph: GraphConnection, stored: StoredRepository) -> bool:
    """Ask whether to remove a repository. Raises InvalidInputError if nobody can
    answer."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInputError(
            f"Not interactive: wc cannot ask before it removes {stored.id}.",
            "Pass --yes to remove it.",
        )
    sys.stdout.write(
        f"{one_line(f'{_contents(stored)}, in {graph.address.label}')}\n"
        "Remove it from the graph? Its threads stay in its own store. [y/N] "
    )
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _contents(stored: StoredRepository) -> str:
    threads = counted(stored.threads, "thread")
    return f"{stored.id}, {threads}, {counted(stored.entries, 'entry', 'entries')}"


def _sources(context: Context, options: ProjectOptions) -> list[Source]:
    """The stores to project."""
    env, machine = context.env, os.uname().nodename
    if options.all and options.folders:
        raise InvalidInputError("Name folders or pass --all, not both.")
    if options.all:
        roots = []
        for store in known_stores(context.cwd, env):
            if store.place is not None:
                roots.append(store.root)
            else:
                remark(one_line(f"not read: {store.name}: {store.problem}"))
    elif options.folders:
        roots = [
            _root(os.path.join(context.cwd, path), env) for path in options.folders
        ]
    else:
        context.adopt()
        roots = [_existing(context.place, context.cwd, env)]
    chosen = dict.fromkeys(map(os.path.realpath, roots))
    return [_source(root, repository_of(root, env, machine)) for root in chosen]


def _source(root: str, repository: GraphRepository) -> Source:
    reader = StoreReader(root)
    return Source(reader, repository, kept_vectors(reader.layout))


def _root(path: str, env: Mapping[str, str]) -> str:
    """The store of a folder, or the folder if it is a store."""
    if not os.path.isdir(path):
        raise NotFoundError(
            f"There is no folder {shown_path(path, env)}.",
            "Name the folder of a repository.",
        )
    if discovery.is_checkout(path) or discovery.is_store(path):
        return path
    return _existing(discovery.find(path, {**env, "WATERCOOLER_DIR": ""}), path, env)


def _existing(place: discovery.Place, folder: str, env: Mapping[str, str]) -> str:
    if not place.exists:
        raise NotFoundError(
            f"{shown_path(folder, env)} has no threads yet.",
            "Start one: wc new TOPIC -m '…'",
        )
    return place.root


def _check(
    graph: GraphConnection, sources: Sequence[Source], options: ProjectOptions
) -> None:
    """Compare each store with the graph. Raises FindingsError if they differ."""
    found = [
        (source, difference)
        for source in sources
        for difference in comparing.differences(graph, source)
    ]
    if options.json:
        say_json(
            {
                "graph": graph.address.label,
                "differences": [
                    {"repository": source.repository.id, **difference._asdict()}
                    for source, difference in found
                ],
            }
        )
    else:
        for source, (topic, problem) in found:
            say(one_line(f"{source.repository.name}: {topic}: {problem}"))
    if found:
        threads = counted(len(found), "thread")
        raise FindingsError(
            f"The graph differs from the stores in {threads}.",
            "Update it with: wc project URL, or wc project URL --full",
        )
    if not options.json:
        names = ", ".join(source.repository.name for source in sources)
        say(one_line(f"the graph matches the stores: {names}"))


def _json(source: Source, result: Projected) -> dict[str, Any]:
    return {
        "id": source.repository.id,
        "name": source.repository.name,
        **result._asdict(),
        "unreadable": list(result.unreadable),
    }


def _sentence(source: Source, result: Projected) -> str:
    changes = [f"{counted(result.written, 'entry', 'entries')} written"]
    if result.removed_threads:
        changes.append(f"{counted(result.removed_threads, 'thread')} removed")
    if result.removed_entries:
        entries = counted(result.removed_entries, "entry", "entries")
        changes.append(f"{entries} removed")
    threads = counted(result.threads, "thread")
    return f"{source.repository.name}: {threads}, {', '.join(changes)}"
