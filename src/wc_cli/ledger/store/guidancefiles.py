"""Changes the guidance for an occasion, line by line."""

from __future__ import annotations

from wc_cli.ledger.store import durable, locks
from wc_core.base.errors import ConflictError, NotFoundError
from wc_core.base.files import read_plain
from wc_core.base.phrases import counted
from wc_core.ledger import guidance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.base.layout import Layout

_REMOVE = "Remove one first: wc guidance remove --on {} N"


def add(
    layout: Layout, occasion: str, lines: Sequence[str], holder: str, seconds: float
) -> None:
    """Add lines at the end. Raises ConflictError if that exceeds the limits of an
    occasion, and LockTimeoutError."""
    # Settling holds this lock while it applies others' changes to the same file.
    with locks.locked(layout.git_lock, holder, seconds, layout.root):
        present = guidance.lines_of(layout, occasion)
        _check(occasion, present, lines)
        data = _content(layout, occasion)
        if data and not data.endswith(b"\n"):
            data += b"\n"
        data += "".join(f"- {line}\n" for line in lines).encode()
        durable.make_folder(layout.guidance_folder, layout.root)
        durable.create(layout.guidance_of(occasion), data, layout.root)


def remove(
    layout: Layout, occasion: str, number: int, holder: str, seconds: float
) -> str:
    """Remove a line by its number in the list, and the file with its last line. Returns
    the line. Raises NotFoundError, and LockTimeoutError."""
    with locks.locked(layout.git_lock, holder, seconds, layout.root):
        present = guidance.lines_of(layout, occasion)
        if not 1 <= number <= len(present):
            raise NotFoundError(
                f"Guidance on {occasion} has {counted(len(present), 'line')}.",
                f"See their numbers: wc guidance list --on {occasion}",
            )
        path = layout.guidance_of(occasion)
        if len(present) == 1:
            durable.remove(path, layout.root)
        else:
            data = _without_line(_content(layout, occasion), number)
            durable.create(path, data, layout.root)
        return present[number - 1]


def _content(layout: Layout, occasion: str) -> bytes:
    return read_plain(layout.guidance_of(occasion), layout.root) or b""


def _check(occasion: str, present: Sequence[str], lines: Sequence[str]) -> None:
    """Raise ConflictError unless there is room for these lines."""
    together = (*present, *lines)
    hint = _REMOVE.format(occasion)
    if len(together) > guidance.MAX_LINES:
        raise ConflictError(
            f"Guidance on {occasion} would have {len(together)} lines; the "
            f"limit is {guidance.MAX_LINES}.",
            f"Nothing was written. {hint}",
        )
    length = sum(map(len, together))
    if length > guidance.MAX_CHARACTERS:
        raise ConflictError(
            f"Guidance on {occasion} would have {length} characters; the "
            f"limit is {guidance.MAX_CHARACTERS}.",
            "Nothing was written. Use fewer words, or refer to a file.",
        )


def _without_line(data: bytes, number: int) -> bytes:
    """The file without this line, counted as `guidance.lines_of` does."""
    kept = []
    for line in data.split(b"\n"):
        number -= bool(guidance.line_text(line.decode(errors="replace")))
        if number:
            kept.append(line)
        else:
            number -= 1  # this one, and none after it
    return b"\n".join(kept)
