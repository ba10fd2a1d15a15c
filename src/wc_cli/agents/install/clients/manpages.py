"""The manual pages, for an installation in an environment that `man` doesn't search."""

from __future__ import annotations

import os
from pathlib import Path

from wc_cli.agents.install import disk
from wc_cli.agents.install.changes import USER, Client, OwnFile, Part
from wc_cli.agents.launcher import own_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.install.changes import InstallSite

_PAGES = ("wc-cli.1", "wc-observe.1", "wc-statusline.1")


def _source() -> Path | None:
    """Return the folder of our pages if they are hidden in a Python environment."""
    installed = own_program("wc-cli")
    if not installed:
        return None
    environment = Path(installed).parent.parent
    folder = environment / "share/man/man1"
    is_hidden = (environment / "pyvenv.cfg").exists()
    return folder if is_hidden and (folder / _PAGES[0]).exists() else None


def _folder(site: InstallSite) -> Path:
    """Return the folder that `man` searches for programs in ``~/.local/bin``."""
    data = site.env.get("XDG_DATA_HOME", "")
    root = Path(data) if os.path.isabs(data) else site.home / ".local/share"
    return root / "man/man1"


def _parts(site: InstallSite) -> tuple[Part, ...]:
    source, folder = _source(), _folder(site)
    if source is None:
        return ()
    changes = tuple(
        OwnFile(folder / name, data.decode())
        for name in _PAGES
        # A link means pipx, which links the pages itself.
        if not (folder / name).is_symlink()
        and (data := disk.read(str(source / name))) is not None
    )
    return (Part("pages", changes),) if changes else ()


CLIENT = Client("man", lambda site: bool(_parts(site)), USER, _parts)
