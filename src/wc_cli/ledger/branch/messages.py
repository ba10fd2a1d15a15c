"""The messages of a store's commits: a subject, and footers with the ids of entries."""

from __future__ import annotations

from wc_core.base import names
from wc_core.base.text import one_line
from wc_core.ledger.git import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.model import Entry

# The footer with an entry's id. It identifies the commit of the entry.
ENTRY = "Watercooler-Entry-ID"
_MAX_SUBJECT = 200


def message_for(
    entries: Sequence[tuple[str, Entry]], topics: Sequence[str], code_repo: str
) -> str:
    """The message of a commit that adds these (topic, entry) pairs; without pairs, of a
    commit that changes the projections of ``topics``."""
    footers = [
        footer
        for topic, entry in entries
        for footer in _footers(topic, entry, code_repo)
    ]
    subject = one_line(_subject(entries, topics))[:_MAX_SUBJECT]
    lines = [subject, "", *map(one_line, footers)]
    return "".join(f"{line}\n" for line in lines)


def _subject(entries: Sequence[tuple[str, Entry]], topics: Sequence[str]) -> str:
    if len(entries) == 1:
        topic, entry = entries[0]
        agent = names.parse(entry.agent).agent or "someone"
        return f"{agent}: {entry.title} ({topic})"
    if entries:
        named = dict.fromkeys(topic for topic, _ in entries)
        return f"{len(entries)} entries ({', '.join(named)})"
    if topics:
        return f"Update the files beside the logs ({', '.join(topics)})"
    return "Keep the settings of the store"


def _footers(topic: str, entry: Entry, code_repo: str) -> Iterator[str]:
    yield f"{ENTRY}: {entry.id}"
    yield f"Watercooler-Topic: {topic}"
    yield f"Watercooler-Agent: {entry.agent}"
    if code_repo:
        yield f"Code-Repo: {code_repo}"
    if entry.code_branch:
        yield f"Code-Branch: {entry.code_branch}"
    if entry.code_commit:
        yield f"Code-Commit: {entry.code_commit}"


def code_repo(repository: Repository, env: Mapping[str, str]) -> str:
    """The ``owner/name`` of a repository, from its remote's URL. Never the URL itself,
    which may contain credentials."""
    path = _url_path(config.get("remote.origin.url", repository, env))
    parts = [part for part in path.rstrip("/").removesuffix(".git").split("/") if part]
    return "/".join(parts[-2:]) if parts[1:] else repository.name


def _url_path(url: str) -> str:
    """The path in a remote's URL; empty for a remote on this machine."""
    plain = url.partition("?")[0].partition("#")[0]
    scheme, separator, address = plain.partition("://")
    if separator:
        # User, password and host come before the first slash.
        return "" if scheme == "file" else address.partition("/")[2]
    is_local = url.startswith(("/", ".")) or ":" not in url
    return "" if is_local else url.rpartition(":")[2]
