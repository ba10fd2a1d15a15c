"""What the tests of views share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wc_core.ledger.threads import codec

if TYPE_CHECKING:
    from wc_core.ledger.threads.model import Entry


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The lines that were decoded."""
    lines: list[bytes] = []
    read_line = codec.read_line

    def counted(topic: str, line: bytes) -> Entry | codec.BadLine:
        lines.append(line)
        return read_line(topic, line)

    monkeypatch.setattr(codec, "read_line", counted)
    return lines
