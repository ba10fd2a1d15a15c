"""How much waits for a person in other repositories: ``.local/elsewhere/<person>`` of a
store.

The name of the file is the person's key, made `layout.safe_name`, and its only line is
the number. `wc_cli.bridges.elsewhere` writes it if the person wants that.
"""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.base.layout import safe_name
from wc_core.base.text import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout

FOLDER = "elsewhere"
MAX_COUNT = 9999
_MAX_DIGITS = 4
_MAX_BYTES = 64


def file_of(key: str) -> str:
    """Returns the file of a participant, relative to ``.local/``."""
    return f"{FOLDER}/{safe_name(key)}"


def encode(count: int) -> bytes:
    """Returns the content of the file."""
    return f"{min(count, MAX_COUNT)}\n".encode()


def load(layout: Layout, key: str) -> int:
    """Returns the number for a participant; 0 if there is none."""
    try:
        path = f"{layout.local}/{file_of(key)}"
        data = read_plain(path, layout.root, _MAX_BYTES) or b""
    except (OSError, WcError):
        return 0
    text = data.decode(errors="replace")
    if not text.endswith("\n"):
        return 0
    return 0 if text.startswith("0") else whole_number(text[:-1], _MAX_DIGITS) or 0
