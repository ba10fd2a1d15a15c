"""The messages of docs/troubleshooting.md, from where they are raised.

Those that docs/causes.toml explains are listed under their code, with the program's
hint. Variable parts are in capitals, or `…`.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from wc_core.base import errors  # noqa: E402 (the checkout's own)

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "troubleshooting.md"
CAUSES = ROOT / "docs" / "causes.toml"
BEGIN, END = "<!-- messages -->\n", "<!-- end of the messages -->\n"

# The placeholders of variable parts, by the last word of the expression.
_WORDS = {
    **dict.fromkeys(("topic",), "TOPIC"),
    **dict.fromkeys(("path", "file", "folder", "filename"), "PATH"),
    **dict.fromkeys(("holder", "to", "name"), "NAME"),
    **dict.fromkeys(("root", "store"), "STORE"),
    "remote.label": "REMOTE",
}
# Where messages are explained that are not in this table, by code.
_ALSO = {
    "OFFLINE": "What a remote can say, and what to do then, has a "
    "[table of its own](sync.md#what-the-messages-mean).",
    "CORRUPT": "Each kind of damage, with what every command makes of it, is in "
    "[a table of the store](store.md#damage).",
    "FINDINGS": "Each line of `wc doctor` says what to do; see also "
    "[damage](store.md#damage).",
}
# In the order in which a section lists them.
_PACKAGES = ("wc_cli", "wc_core", "wc_observe")


class Message(NamedTuple):
    """An error message and its hint."""

    code: str
    text: str
    hint: str


@functools.cache
def messages() -> tuple[Message, ...]:
    """Every error message in the code, without repetition."""
    found: dict[tuple[str, str], Message] = {}
    for package in _PACKAGES:
        for path in sorted((ROOT / "src" / package).rglob("*.py")):
            for one in _of_module(path):
                found.setdefault((one.code, one.text), one)
    return (*found.values(),)


def _of_module(path: Path) -> Iterator[Message]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    raised = [one for one in calls if ast.unparse(one.func).endswith("Error")]
    names = _names(path, tree) if raised else {}
    for call in sorted(raised, key=lambda one: one.lineno):
        kind = _value(call.func, names)
        if not (inspect.isclass(kind) and issubclass(kind, errors.WcError)):
            continue
        said = [_said(one, names) for one in (*call.args, *_keywords(call))]
        text, hint = (*said, "", "")[:2]
        if any(word.isalpha() and word.islower() for word in text.split()):
            yield Message(kind.code, text, hint)


def _names(path: Path, tree: ast.Module) -> dict[str, object]:
    """The values of a module's names."""
    name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    if not name.startswith("wc_observe"):
        return vars(import_module(name))
    # Importing a module of the server takes two seconds, because of its framework.
    found: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("wc_core"):
            module = import_module(str(node.module))
            for one in node.names:
                found[one.asname or one.name] = getattr(module, one.name, None)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            found[ast.unparse(target)] = _constant(node.value, found)
    return found


def _constant(node: ast.expr, names: dict[str, object]) -> object:
    """The value of a number or a text; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value
    text = _said(node, names) if isinstance(node, ast.JoinedStr) else "…"
    return None if "…" in text else text


def _keywords(call: ast.Call) -> list[ast.expr]:
    return [one.value for one in call.keywords if one.arg == "hint"]


def _value(node: ast.expr, names: dict[str, object]) -> object:
    """The value of a name of a module; None if it is unknown."""
    first, *rest = ast.unparse(node).split(".")
    value = names.get(first)
    for part in rest:
        value = getattr(value, part, None)
    return value


def _said(node: ast.expr, names: dict[str, object]) -> str:
    """The text of an expression, with placeholders."""
    parts: list[ast.expr] = []
    match node:
        case ast.Constant():
            return str(node.value)
        case ast.JoinedStr():
            parts = node.values
        case ast.FormattedValue():
            parts = [node.value]
        case ast.BinOp():
            parts = [node.left, node.right]
        case ast.IfExp():
            parts = [node.orelse]
        case ast.Name() | ast.Attribute():
            return _stands_for(node, names)
    return "".join(_said(one, names) for one in parts) if parts else "…"


def _stands_for(node: ast.expr, names: dict[str, object]) -> str:
    """The value of a constant; otherwise a placeholder."""
    value = _value(node, names)
    if isinstance(value, str | int):
        return f"{value:,}" if isinstance(value, int) else value
    words = ast.unparse(node).split(".")
    return _WORDS.get(words[-1]) or _WORDS.get(".".join(words[-2:]), "…")


def causes() -> dict[str, str]:
    """The explanations by message. Raises SystemExit for a message that no longer
    exists."""
    told = tomllib.loads(CAUSES.read_text(encoding="utf-8"))
    found = {one["message"]: one["means"] for one in told["cause"]}
    gone = sorted(found.keys() - {one.text for one in messages()})
    if gone:
        raise SystemExit(f"{CAUSES}: no code prints this now: {gone[0]}")
    return found


def sections() -> Iterator[str]:
    """The messages by code."""
    known = causes()
    explained = [one for one in messages() if one.text in known]
    for kind in sorted(errors.WcError.__subclasses__(), key=lambda one: one.exit_code):
        rows = [one for one in explained if one.code == kind.code]
        said = " ".join((inspect.getdoc(kind) or "").split())
        yield f"\n### {kind.code}, exit {kind.exit_code}\n\n{said}\n"
        yield f"\n{_ALSO[kind.code]}\n" if kind.code in _ALSO else ""
        if rows:
            yield "\n| message | what it means, and what to do |\n|---|---|\n"
        for one in sorted(rows, key=lambda one: one.text.casefold().lstrip("… ")):
            text = f"{known[one.text]} {_shown(one.hint)}".strip()
            yield f"| {_code(one.text)} | {text} |\n"


def _code(text: str) -> str:
    mark = "``" if "`" in text else "`"
    return f"{mark}{text.strip()}{mark}".replace("|", "\\|")


def _shown(hint: str) -> str:
    """A hint in italics; empty if nothing of it is constant."""
    words = " ".join(hint.split()).removeprefix("…").replace("……", "…")
    return f"*{words.strip()}*".replace("|", "\\|") if words.strip("… .") else ""


def page() -> str:
    """All of docs/troubleshooting.md: only the messages are replaced."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{''.join(sections())}\n{END}{after}"
