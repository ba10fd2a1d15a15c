"""A person's preferences: their values, checks, and changes to their file."""

from __future__ import annotations

import os

from wc_cli.agents.install import disk
from wc_cli.agents.install.formats.jsonc import UnreadableError
from wc_core.attention.notify import targets
from wc_core.base.errors import CorruptError, NotFoundError
from wc_core.base.text import one_line
from wc_core.ledger.configuration import keys, preferences
from wc_core.ledger.settingvalues import FILE, SettingValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def values(env: Mapping[str, str]) -> list[SettingValue]:
    """The current preferences."""
    path, fields = preferences.path_of(env), preferences.load(env).fields
    return [
        SettingValue((table, name), key, value, FILE, path)
        for table, names in fields.items()
        for name, value in names.items()
        if (key := keys.find((table, name), preferences.KEYS)) is not None
    ]


def is_secret(parts: Sequence[str]) -> bool:
    """Whether a preference may contain a secret, as URLs do."""
    return parts[0] == "notify"


def shown(value: Any) -> Any:
    """A preference that may contain a secret, for display."""
    if isinstance(value, str):
        return targets.shown(value)
    return [targets.shown(text) for text in value]


def change(env: Mapping[str, str], edit: Callable[[str], str]) -> bool:
    """Replace the text of the preferences with the result of ``edit``. Returns whether
    it changed.

    Raises NotFoundError without a home folder, CorruptError for a file that cannot be
    edited, ConflictError if another program wrote at the same time, StorageError.
    """
    path = preferences.path_of(env)
    if not path:
        raise NotFoundError(
            "There is no place for preferences.",
            "Set HOME.",
        )
    path = disk.real_path(path)
    before = disk.read(path)
    try:
        text = (before or b"").decode()
        edited = edit(text)
    except (UnicodeDecodeError, UnreadableError) as error:
        raise CorruptError(
            f"{path} was not changed: {one_line(str(error))}.",
            "Fix it with an editor.",
        ) from error
    if edited == text:
        return False
    disk.make_folders(disk.missing_folders(os.path.dirname(path)))
    disk.replace(path, before, edited.encode())
    return True
