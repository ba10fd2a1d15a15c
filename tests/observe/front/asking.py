"""Messages of a client, and the real server in this process."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
from make_declared import ask, enveloped, hello, server

__all__ = ["PLAIN", "ask", "enveloped", "hello", "line", "server"]

PLAIN = hello("2025-06-18", {"name": "x", "version": "1"})[0]


def line(message: dict[str, Any]) -> bytes:
    return f"{json.dumps({'jsonrpc': '2.0'} | message)}\n".encode()
