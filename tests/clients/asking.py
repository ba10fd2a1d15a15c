"""What every client library is asked to do, and what each must have heard.

What was heard is a dictionary, the same from every library:

    protocol, server: {name, version}, instructions
    tools: [name]
    answers: {"list_threads json": {error, text, data}}     of every tool
    resources: {address: {mime, text}}                      of every resource
    templates: [template]
    missing: the error for a resource that is not there
    prompts: {name: text}                                   of every prompt
    completed: [value] or null                              for the topic
"""

from __future__ import annotations

import json
from typing import Any

from wc_core.base.toolnames import PREFIX, TOOLS
from wc_core.base.version import __version__

TOPIC = "feature-auth"
WATCHED = "notes"
SAID = "Schöne Grüße 🎾\nsrc/auth.py comes first."

# What a tool cannot do without. Every tool is called, with these or with none.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "read_thread": {"topic": TOPIC},
    "search_threads": {"query": "src/auth.py"},
    "check_status": {"symbols": ["README.md"]},
    "get_neighbors": {"target": "README.md"},
}
PROMPT_ARGUMENTS = {"topic": TOPIC}
# Called with what does not fit, under a name that says so.
WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "no thread": ("read_thread", {"topic": "no-such-thread"}, "NOT_FOUND"),
    "no such limit": ("list_threads", {"limit": 0}, "INVALID_INPUT"),
    "no topic": ("read_thread", {}, "INVALID_INPUT"),
}


def judge(heard: dict[str, Any], *, here: bool) -> None:
    """Every promise that does not depend on who asks; ``here`` on the machine
    that the worktrees are on."""
    assert heard["server"] == {"name": "watercooler", "version": __version__}
    assert "watercooler://instructions" in heard["instructions"]
    local = set() if here else {"list_worktrees"}
    assert set(heard["tools"]) == {f"{PREFIX}{name}" for name in {*TOOLS} - local}
    asked = {name.split()[0] for name in heard["answers"].keys() - WRONG.keys()}
    assert asked == {one.removeprefix(PREFIX) for one in heard["tools"]}
    _judge_answers(heard["answers"])
    _judge_resources(heard)
    for name, text in heard["prompts"].items():
        assert TOPIC in text or "watercooler" in text.lower(), name
    assert heard["completed"] is None or TOPIC in heard["completed"]


def _judge_answers(answers: dict[str, Any]) -> None:
    for name, (_, _, code) in WRONG.items():
        wrong = answers.pop(name)
        assert wrong["error"], wrong
        assert wrong["data"] is None
        assert wrong["text"].startswith(f"{code}: ")
    for name, answer in answers.items():
        assert not answer["error"], (name, answer)
        assert answer["text"], name
        # These clients are not known to show structured content.
        assert answer["data"] is None, name
        if name.endswith(" json"):
            answer["fields"] = json.loads(answer["text"])
    threads = answers["list_threads json"]["fields"]["threads"]
    assert {one["topic"]: one["ball"] for one in threads} == {
        TOPIC: "Pat",
        WATCHED: "Pat",
    }
    entries = answers["read_thread json"]["fields"]["entries"]
    assert [one["title"] for one in entries][1:] == ["The plan", "Done"]
    assert entries[1]["body"] == SAID
    assert entries[1]["ball"] == "Codex"
    assert "> src/auth.py comes first." in answers["read_thread markdown"]["text"]
    hits = answers["search_threads json"]["fields"]["hits"]
    assert {one["title"] for one in hits} == {"The plan", "Done"}


def _judge_resources(heard: dict[str, Any]) -> None:
    resources = heard["resources"]
    told = ("instructions", "threads", f"threads/{TOPIC}", "index")
    for name in told:
        one = resources[f"watercooler://{name}"]
        assert one["mime"] == "text/markdown", name
        assert one["text"], name
    assert all(one["text"] for one in resources.values())
    assert "> src/auth.py comes first." in resources[f"watercooler://{told[2]}"]["text"]
    assert "watercooler://threads/{topic}" in heard["templates"]
    assert "NOT_FOUND" in heard["missing"]
    assert "Traceback" not in heard["missing"]
