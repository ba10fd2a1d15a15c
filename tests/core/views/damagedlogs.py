"""Logs with damage, for tests of what reads them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from wc_core.base.lean import json
from wc_core.ledger.threads import codec, folding
from wc_core.ledger.threads.projections import render_meta

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import Entry

# What other programs, merges and power cuts make of the lines of a log.
damages = st.sampled_from(
    (
        *("none", "none", "none", "twice", "swapped", "torn", "no_end", "empty_line"),
        *("garbage", "other_shape", "spaces", "changed", "shorter", "escaped"),
    )
)


def damaged(lines: list[bytes], damage: str, at: int) -> bytes:
    """The log with one kind of damage at a line."""
    at = min(at, len(lines) - 1)
    line = lines[at]
    match damage:
        case "twice":
            lines.insert(at, line)
        case "swapped":
            lines.reverse()
        case "torn":
            lines[-1] = lines[-1][:20]
        case "no_end":
            lines[-1] = lines[-1][:-1]
        case "empty_line":
            lines.insert(at, b"\n")
        case "garbage":
            lines.insert(at, b"\xff{]\n")
        case "other_shape" | "escaped" | "spaces":
            lines[at] = respelt(line, damage)
        case "shorter":
            del lines[at]
    return b"".join(lines)


def respelt(line: bytes, how: str) -> bytes:
    """The line of an entry as another program may write it."""
    match how:
        case "other_shape":
            return line.replace(b'"pr_refs":[]', b'"pr_refs":"x"')
        case "escaped":
            line = line.replace(b'"status"', b'"st\\u0061tus"')
            return line.replace(b'"ball"', b'"b\\u0061ll"')
        case _:
            return json.dumps(json.loads(line.decode())).encode() + b"\n"


def put(
    layout: Layout, entries: Sequence[Entry], damage: str = "none", at: int = 0
) -> None:
    """Write a log, and a meta of ours that is true of it; ``changed`` afterwards."""
    lines = [codec.to_line(item, index) for index, item in enumerate(entries)]
    data = damaged(lines, damage, at) if lines else b""
    log = codec.read_log("t", data)
    state = folding.fold("t", log.entries)._replace(lost=log.lost)
    meta = render_meta(state, len(data), {})
    if damage == "changed" and lines:
        data = data.replace(b"title 1", b"title 7").replace(b"(pat)", b"(sam)", 1)
    Path(layout.log("t")).write_bytes(data)
    Path(layout.meta("t")).write_bytes(meta)
