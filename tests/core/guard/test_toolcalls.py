"""The paths in the tool calls of each client."""

from __future__ import annotations

from typing import Any

import pytest

from wc_core.edits.guard import toolcalls
from wc_core.edits.guard.toolcalls import ToolCall

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def f():
-    pass
+    *** Add File: no.py
*** Add File: b.py
+x
*** Delete File: c.py
*** Update File: d.py
*** Move to: e.py
*** End Patch"""
PATCHED = ("src/a.py", "b.py", "c.py", "d.py", "e.py")


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Edit", {"file_path": "/app/a.py", "old_string": "b.py"}, ["a.py"]),
        ("Write", {"file_path": "/app/a.py", "content": "rm b.py"}, ["a.py"]),
        ("MultiEdit", {"file_path": "/app/a.py", "edits": []}, ["a.py"]),
        ("NotebookEdit", {"notebook_path": "/app/a.ipynb"}, ["a.ipynb"]),
        ("apply_patch", {"command": PATCH}, PATCHED),
        ("apply_patch", {"input": PATCH}, PATCHED),
        ("write_file", {"file_path": "a.py", "content": ""}, ["a.py"]),
        ("replace", {"file_path": "/app/src/../a.py"}, ["a.py"]),
        ("edit", {"filePath": "/app/a.py"}, ["a.py"]),
        ("write", {"filePath": "a.py"}, ["a.py"]),
        ("Bash", {"command": "rm a.py"}, []),
        ("Read", {"file_path": "/app/a.py"}, []),
        ("mcp__other__write", {"path": "a.py"}, []),
        ("Edit", {"file_path": 5}, []),
        ("Edit", {}, []),
        ("Edit", {"file_path": "a\0b"}, []),
    ],
)
def test_paths(tool: str, arguments: dict[str, Any], expected: list[str]) -> None:
    paths = toolcalls.paths(ToolCall(tool, arguments, "/app"))
    assert list(paths) == [f"/app/{path}" for path in expected]


@pytest.mark.parametrize(
    ("tool", "is_edit", "may_write"),
    [
        ("Edit", True, True),
        ("apply_patch", True, True),
        ("Bash", False, True),
        ("Read", False, False),
        ("", False, False),
    ],
)
def test_kinds_of_tools(tool: str, *, is_edit: bool, may_write: bool) -> None:
    call = ToolCall(tool, {}, "/app")
    assert toolcalls.is_edit(call) == is_edit
    assert toolcalls.may_write(call) == may_write
