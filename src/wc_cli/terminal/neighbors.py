"""The neighbours of a file as terminal text."""

from __future__ import annotations

from wc_core.graph.model import HUB, by_folder
from wc_core.phrases import counted
from wc_core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.terminal.style import Style
    from wc_core.graph.model import FileUse, Neighbourhood

_BOLD = "1"
_MAX_NAMES = 6
_MAX_FOLDERS = 20


def neighbors_text(target: str, neighbourhood: Neighbourhood, style: Style) -> str:
    """Return what a target uses, and what uses it; for a hub, by folder."""
    sides = (("uses", neighbourhood.uses), ("used by", neighbourhood.used_by))
    lines = [style(one_line(target), _BOLD)]
    for verb, uses in sides:
        lines.append(f"  {verb} {counted(len(uses), 'file')}")
        lines += [f"    {line}" for line in _lines(uses)]
    return "\n".join(lines)


def _lines(uses: tuple[FileUse, ...]) -> Iterator[str]:
    if len(uses) > HUB:
        folders = by_folder(uses)
        for folder, count in folders[:_MAX_FOLDERS]:
            yield one_line(f"{count:>4}  {folder}/")
        if len(folders) > _MAX_FOLDERS:
            yield f"and {counted(len(folders) - _MAX_FOLDERS, 'more folder')}"
        return
    for use in uses:
        names = ", ".join(use.names[:_MAX_NAMES])
        dots = ", …" if len(use.names) > _MAX_NAMES else ""
        yield one_line(f"{use.path} · {names}{dots}" if names else use.path)
