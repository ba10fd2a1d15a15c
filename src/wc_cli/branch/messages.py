"""What a commit of the store says: its subject, and the footers that name its
entries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wc_core import names
from wc_core.git import config
from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.git.repository import Repository
    from wc_core.threads.model import Entry

# The footer that names an entry: what has it is the entry's commit.
ENTRY = "Watercooler-Entry-ID"
_MAX_SUBJECT = 200


def message_for(
    entries: list[tuple[str, Entry]], topics: list[str], code_repo: str
) -> str:
    """Subject and footers that name exactly these (topic, entry) pairs;
    without any, the ``topics`` whose projections changed."""
    if len(entries) == 1:
        topic, entry = entries[0]
        agent = names.parse(entry.agent).agent or "somebody"
        subject = f"{agent}: {entry.title} ({topic})"
    elif entries:
        named = dict.fromkeys(topic for topic, _ in entries)
        subject = f"{len(entries)} entries ({', '.join(named)})"
    elif topics:
        subject = f"Render anew ({', '.join(topics)})"
    else:
        subject = "Keep the settings of the store"
    footers = []
    for topic, entry in entries:
        footers.append(f"{ENTRY}: {entry.id}")
        footers.append(f"Watercooler-Topic: {topic}")
        footers.append(f"Watercooler-Agent: {entry.agent}")
        footers += [f"Code-Repo: {code_repo}"] if code_repo else []
        footers += [f"Code-Branch: {entry.code_branch}"] if entry.code_branch else []
        footers += [f"Code-Commit: {entry.code_commit}"] if entry.code_commit else []
    lines = [one_line(subject)[:_MAX_SUBJECT], "", *map(one_line, footers)]
    return "".join(f"{line}\n" for line in lines)


def code_repo(where: Repository, env: Mapping[str, str]) -> str:
    """``owner/name`` of the repository, from its remote; never a URL, which
    may carry credentials."""
    url = config.get("remote.origin.url", where, env)
    scheme, is_url, rest = re.split("[?#]", url, maxsplit=1)[0].partition("://")
    if is_url:
        # Before the first slash: whose account, which password, which host.
        path = "" if scheme == "file" else rest.partition("/")[2]
    else:
        is_local = url.startswith(("/", ".")) or ":" not in url
        path = "" if is_local else url.rpartition(":")[2]
    path = path.rstrip("/").removesuffix(".git")
    parts = [part for part in path.split("/") if part]
    wanted = 2
    if len(parts) < wanted:
        return where.name
    return "/".join(parts[-wanted:])
