"""Changes the settings that all clones share, ``config.toml``."""

from __future__ import annotations

from wc_cli.ledger.store import durable, locks
from wc_core.base.errors import CorruptError
from wc_core.base.files import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_core.base.layout import Layout


def change(
    layout: Layout, edit: Callable[[str], str], holder: str, seconds: float
) -> bool:
    """Replace the text of the settings with the result of ``edit``. Returns whether it
    changed.

    Raises LockTimeoutError, CorruptError if it is not text, StorageError, and what
    ``edit`` raises; the file is unchanged then.
    """
    # Settling holds this lock while it applies others' changes to the same file.
    with locks.locked(layout.git_lock, holder, seconds, layout.root):
        try:
            text = (read_plain(layout.config, layout.root) or b"").decode()
        except UnicodeDecodeError as error:
            raise CorruptError(
                "config.toml cannot be changed: it is not text.", "See: wc doctor"
            ) from error
        except OSError as error:
            durable.raise_storage_error("cannot be read", layout.config, error)
        edited = edit(text)
        if edited == text:
            return False
        durable.create(layout.config, edited.encode(), layout.root)
        return True
