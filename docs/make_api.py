"""docs/api.md: the Python API, from the code, behind words that stand here."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

PAGE = ROOT / "docs" / "api.md"
_WIDTH = 90


class Promised(NamedTuple):
    """What is kept: a function or class, of a value these fields alone (all
    without any), of a class these methods and properties too. ``says`` stands in
    for what a docstring has to say about fields that are not kept."""

    where: str
    fields: str = ""
    methods: str = ""
    says: str = ""

    @property
    def name(self) -> str:
        """Without its module."""
        return self.where.rpartition(".")[2]

    @property
    def value(self) -> Any:
        """The thing itself."""
        module, _, name = self.where.rpartition(".")
        return getattr(import_module(module), name)


READING = (
    Promised("wc_core.api.find"),
    Promised("wc_core.api.Place", "kind root exists branch_exists"),
    Promised("wc_core.api.StoreReader", "", "topics has snapshot thread"),
    Promised("wc_core.api.Snapshot", "state damage", "topic"),
    Promised("wc_core.api.Thread", "entries", "state damage"),
    Promised(
        "wc_core.api.State",
        "topic title status ball since entry_count last_id created_at updated_at "
        "updated_by branch heads",
        "forked",
        "`ball` is its holder, or `None`; `since` the entry that gave it to them. "
        "`heads` are the entries that no other names as a parent: one, or more in a "
        "fork. `last_id` is the greatest id. `branch` is the one that the thread "
        "was opened from, or moved to.",
    ),
    Promised(
        "wc_core.api.Entry",
        "id topic agent at title body role type action ball status parents summary "
        "file_refs pr_refs commit_refs code_branch code_commit key reason",
        "",
        "`ball` and `status` are `None` on an entry that does not change them. "
        "`parents` is `None` where an older tool recorded none. `at` is the time as "
        "written, RFC 3339.",
    ),
    Promised("wc_core.api.Ball"),
    Promised("wc_core.api.Damage", "", "place"),
)
WRITING = (
    Promised("wc_cli.posting.post"),
    Promised("wc_core.api.Draft"),
    Promised("wc_core.api.Asked", "name seat"),
    Promised("wc_cli.posting.Receipt", "", "to_json"),
)
ERRORS = (Promised("wc_core.api.WcError"),)

INTRO = """\
# From Python

*Written by `docs/make_reference.py` from the docstrings; change those, not this page.*

Three ways to use the same threads, the easiest first:

- any language: run `wc … --json`. Shapes and exit codes are
  [promises](commands.md#exit-codes), and this is what most programs should do;
- an MCP client: [wc-observe](observe.md), which only reads;
- Python: the names on this page, from the package `wc-watercooler`. This avoids
  starting a process.

Import these names from `wc_core.api` (reading) and `wc_cli.posting` (writing). They are
stable: parameters and fields may be added, but never renamed or removed
(`tests/test_api.py`). Any other module of the packages may change at any time.

`wc_core` only reads. Each call reads the files again; there is nothing to close. In a
repository with a thread:

```sh
wc new login -m 'Log in with a passkey' --to Codex
```

```python
import os

from wc_core import api

place = api.find(os.getcwd(), os.environ)
reader = api.StoreReader(place.root)
for topic in reader.topics():
    state = reader.snapshot(topic).state
    print(topic, state.status, state.ball or "anyone", state.entry_count)

thread = reader.thread("login")
assert thread.entries[0].title == "Log in with a passkey"
assert thread.state.ball == "Codex"
```

`wc_cli.posting` writes with the same locks, ball rules and guarantee as the command:
when `post` returns, the entry is on disk.

```python
from wc_cli.posting import post
from wc_core.api import Asked, ConflictError, Draft

receipt = post(
    Draft("login", "say", "CI is green", body="All 42 checks.", key="build-1234"),
    Asked(name="CI"),
)
assert receipt.entry_id
try:
    post(Draft("login", "take", "Mine"), Asked(name="CI"))
except ConflictError as error:
    print(error.code, error.message, error.hint)
```
"""


def parameters(promised: Promised) -> dict[str, str]:
    """Its fields or parameters by name, as written in the code."""
    found = inspect.signature(promised.value).parameters.values()
    kept = promised.fields.split() or [one.name for one in found]
    return {one.name: _parameter(one) for one in found if one.name in kept}


def _parameter(one: inspect.Parameter) -> str:
    kind = getattr(one.annotation, "__forward_arg__", one.annotation)
    text = f"{one.name}: {kind}"
    if one.default is inspect.Parameter.empty:
        return text
    simple = not hasattr(one.default, "_fields")
    return f"{text} = {one.default!r}" if simple else f"{text} = …"


def usage(promised: Promised) -> str:
    """Its signature, one parameter per line if it is long."""
    words = [*parameters(promised).values()]
    found = inspect.signature(promised.value).parameters.values()
    by_name = [one.name for one in found if one.kind is one.KEYWORD_ONLY]
    if by_name:
        words.insert(len(words) - len(by_name), "*")
    returns = inspect.signature(promised.value).return_annotation
    end = "" if inspect.isclass(promised.value) else f" -> {returns}"
    line = f"{promised.name}({', '.join(words)}){end}"
    if len(line) <= _WIDTH:
        return line
    lines = "".join(f"        {one},\n" for one in words)
    return f"{promised.name}(\n{lines}    ){end}"


def section(title: str, everything: tuple[Promised, ...]) -> str:
    """A section: each name with its docstring."""
    parts = [f"\n## {title}\n"]
    for one in everything:
        said = _prose(one.value)
        if one.fields:
            said = " ".join((said.partition("\n\n")[0], one.says)).strip()
        parts.append(f"\n### {one.where}\n\n    {usage(one)}\n\n{said}\n")
        for name in one.methods.split():
            member = getattr(one.value, name)
            parts.append(f"\n**`.{name}{_call(member)}`** {_prose(member)}\n")
    return "".join(parts)


def _call(member: Any) -> str:
    """The signature of a method; empty for a property."""
    if isinstance(member, property):
        return ""
    words = str(inspect.signature(member)).replace("'", "")
    return words.replace("(self, ", "(").replace("(self)", "()")


def _prose(value: Any) -> str:
    """A docstring in markdown."""
    return (inspect.getdoc(value) or "").replace("``", "`")


def page() -> str:
    """All of docs/api.md."""
    return "".join(
        [
            INTRO,
            section("Reading", READING),
            section("Writing", WRITING),
            section("Errors", ERRORS),
            "\nIts subclasses are one for each [exit code](commands.md#exit-codes).\n",
        ]
    )
