"""What each answer in JSON has: the keys of the answer, but not those of the lists and
objects in it. The server declares no schemas; tests compare its answers with these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_observe.answers.vocabulary import vocabulary_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BOOLEAN = {"type": "boolean"}
INTEGER = {"type": "integer"}
OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": {"type": "object"}}
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": {"type": "string"}}
OPTIONAL_TEXT = {"type": ["string", "null"]}
LIST = {"type": "array"}
OPTIONAL_OBJECT = {"type": ["object", "null"]}
OPTIONAL_INTEGER = {"type": ["integer", "null"]}


def object_schema(
    properties: Mapping[str, Mapping[str, Any]], required: Sequence[str]
) -> dict[str, Any]:
    """The schema of an object with these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
    }


def answer_schema(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The schema of an answer of which nothing is required."""
    return object_schema(properties, ())


ACTIVITY_SCHEMA = answer_schema({"store": TEXT, "activity": LIST, "total": INTEGER})
CLAIMS_SCHEMA = answer_schema(
    {"store": TEXT, "claims": LIST, "total": INTEGER, "unreadable": INTEGER}
)
STATUS_SCHEMA = answer_schema(
    {
        "verdict": TEXT,
        "reasons": LIST,
        "switch_to": LIST,
        "status": TEXT,
        "lock_status": TEXT,
        "repo_head": OPTIONAL_TEXT,
        "locks": OBJECT,
        "warnings": LIST,
        "orchestration": OBJECT,
    }
)
CONFLICTS_SCHEMA = answer_schema(
    {
        "at": OPTIONAL_TEXT,
        "age_seconds": OPTIONAL_INTEGER,
        "base": OPTIONAL_TEXT,
        "worktrees": LIST,
        "pairs": LIST,
        "approved": LIST,
        "total": INTEGER,
        "problem": TEXT,
    }
)
ENTRY_SCHEMA = answer_schema(
    {
        "store": TEXT,
        "topic": TEXT,
        "entry": OBJECT,
        "truncated": BOOLEAN,
        "next_offset": INTEGER,
    }
)
READ_SCHEMA = answer_schema(
    {
        "store": TEXT,
        "topic": TEXT,
        "title": TEXT,
        "status": TEXT,
        "ball": OPTIONAL_TEXT,
        "participants": LIST,
        "checklist": OBJECT,
        "entry_count": INTEGER,
        "entries": LIST,
        "next_entry_index": INTEGER,
        "truncated": BOOLEAN,
    }
)
HEALTH_SCHEMA = object_schema(
    {
        "ok": BOOLEAN,
        "store": OPTIONAL_TEXT,
        "kind": TEXT,
        "exists": BOOLEAN,
        "branch": TEXT,
        "threads": OBJECT,
        "damaged": OBJECTS,
        "unsettled": INTEGER,
        "sync": OBJECT,
        "problems": TEXTS,
        "you": TEXT,
        "versions": OBJECT,
    },
    required=("ok", "store", "versions"),
)
INBOX_SCHEMA = answer_schema(
    {
        "items": LIST,
        "total": INTEGER,
        "truncated": BOOLEAN,
        "repositories": LIST,
        "unreadable": LIST,
        "source": TEXT,
        "problem": TEXT,
    }
)
NEIGHBORS_SCHEMA = answer_schema(
    {
        "target": TEXT,
        "status": TEXT,
        "at": OPTIONAL_TEXT,
        "uses": OBJECT,
        "used_by": OBJECT,
    }
)
READINESS_SCHEMA = answer_schema(
    {"store": TEXT, "topic": TEXT, "ready": BOOLEAN, "reasons": LIST}
)
HITS_SCHEMA = answer_schema(
    {
        "store": TEXT,
        "scope": TEXT,
        "source": TEXT,
        "problem": TEXT,
        "query": TEXT,
        "total": INTEGER,
        "topic_count": INTEGER,
        "topics": LIST,
        "hits": LIST,
        "partial": INTEGER,
        "candidates": INTEGER,
        "near": INTEGER,
        "by_words": TEXT,
        "facets": OBJECT,
        "cursor": TEXT,
        "truncated": BOOLEAN,
        "unreadable": LIST,
    }
)
UPDATES_SCHEMA = answer_schema(
    {
        "store": TEXT,
        "since": TEXT,
        "entries": LIST,
        "next_since": TEXT,
        "truncated": BOOLEAN,
        "unreadable": LIST,
    }
)
LIST_SCHEMA = answer_schema(
    {
        "store": TEXT,
        "threads": LIST,
        "total": INTEGER,
        "cursor": TEXT,
        "truncated": BOOLEAN,
        "unreadable": TEXTS,
    }
)
VOCABULARY_SCHEMA = object_schema(
    dict.fromkeys(vocabulary_fields(), TEXTS), required=list(vocabulary_fields())
)
WHOAMI_SCHEMA = object_schema(
    {
        "you": TEXT,
        "agent": TEXT,
        "seat": TEXT,
        "tag": TEXT,
        "source": TEXT,
        "client": TEXT,
        "subject": TEXT,
        "folder": TEXT,
        "store": OPTIONAL_TEXT,
        "exists": BOOLEAN,
        "problem": TEXT,
        "code_branch": TEXT,
    },
    required=("you", "agent", "source", "client", "folder", "store"),
)
LOOPS_SCHEMA = answer_schema(
    {
        "store": OPTIONAL_TEXT,
        "loops": LIST,
    }
)
TEAM_SCHEMA = answer_schema(
    {
        "file": OPTIONAL_TEXT,
        "found": BOOLEAN,
        "members": LIST,
        "truncated": BOOLEAN,
        "age_seconds": OPTIONAL_INTEGER,
    }
)
WORKTREES_SCHEMA = answer_schema(
    {
        "store": OPTIONAL_TEXT,
        "worktrees": LIST,
        "total": INTEGER,
        "truncated": BOOLEAN,
        "problem": TEXT,
    }
)
HISTORY_SCHEMA = answer_schema(
    {
        "store": TEXT,
        "topic": TEXT,
        "ball": OPTIONAL_TEXT,
        "changes": INTEGER,
        "bounces": INTEGER,
        "free_seconds": INTEGER,
        "longest": OPTIONAL_OBJECT,
        "holders": LIST,
        "total": INTEGER,
        "spells": LIST,
        "truncated": BOOLEAN,
    }
)
STATS_SCHEMA = answer_schema(
    {
        "store": TEXT,
        "threads": OBJECT,
        "balls": LIST,
        "stale_total": INTEGER,
        "stale": LIST,
        "busiest": LIST,
        "recent": OBJECT,
        "unreadable": LIST,
        "truncated": BOOLEAN,
    }
)
