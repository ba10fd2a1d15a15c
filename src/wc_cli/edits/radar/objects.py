"""A separate place for the git objects of snapshots and merges, outside the repository.

The user's repository should not grow with every edit, and uncommitted work should not
get into its packs. git reads the repository's objects as alternates.
"""

from __future__ import annotations

import os
import shutil
import tempfile

from wc_cli.ledger.store import durable
from wc_core.base.lean import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.base.layout import Layout

# Like `git gc --auto`: count one folder of 256.
_SAMPLE = "17"
_MAX_IN_SAMPLE = 30


class Objects:
    """Two folders of objects: ``snapshots``, which stays, and ``merges``, which is
    removed with everything that is ``temporary``."""

    def __init__(self, common: str, snapshots: str, temporary: str) -> None:
        self.common = common
        self.snapshots = snapshots
        self.temporary = temporary
        self.merges = f"{temporary}/merges"
        os.mkdir(self.merges, 0o700)

    def snapshot_env(self, index: str) -> dict[str, str]:
        """The environment in which git writes snapshot objects and uses ``index`` as
        its index."""
        folders = alternates(f"{self.common}/objects")
        return {
            "GIT_OBJECT_DIRECTORY": self.snapshots,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": folders,
            "GIT_INDEX_FILE": index,
        }

    @property
    def merge_env(self) -> dict[str, str]:
        """The environment in which git reads snapshots and writes merges."""
        folders = alternates(self.snapshots, f"{self.common}/objects")
        return {
            "GIT_OBJECT_DIRECTORY": self.merges,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": folders,
        }

    def has_snapshot(self, commit: str) -> bool:
        """Return whether a commit is still among the snapshots."""
        return os.path.isfile(f"{self.snapshots}/{commit[:2]}/{commit[2:]}")


def alternates(*folders: str) -> str:
    """The folders in the syntax of git's variable, separated by colons."""
    return ":".join(map(_quoted, folders))


def _quoted(folder: str) -> str:
    if ":" not in folder and not folder.startswith('"'):
        return folder
    escaped = folder.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@contextlib.contextmanager
def objects_of(common: str, layout: Layout | None) -> Iterator[Objects]:
    """The folders of objects for a repository's git directory, during a block. Without
    a store, nothing stays. With one, the caller holds the radar's lock."""
    if layout is None:
        with tempfile.TemporaryDirectory(prefix="wc-radar-") as temporary:
            snapshots = f"{temporary}/snapshots"
            os.mkdir(snapshots, 0o700)
            yield Objects(common, snapshots, temporary)
        return
    # Left over from a killed radar.
    shutil.rmtree(layout.merges, ignore_errors=True)
    durable.make_folder(layout.merges, layout.root, flush=False)
    if _is_large(layout.snapshots):
        # Move them away first: nobody may use half of them.
        durable.move(layout.snapshots, f"{layout.merges}/old", layout.root)
    durable.make_folder(layout.snapshots, layout.root, flush=False)
    with tempfile.TemporaryDirectory(dir=layout.merges) as temporary:
        shutil.rmtree(f"{layout.merges}/old", ignore_errors=True)
        yield Objects(common, layout.snapshots, temporary)


def _is_large(folder: str) -> bool:
    """Return whether a folder has many objects of old snapshots."""
    if os.path.islink(folder):
        return False
    try:
        return len(os.listdir(f"{folder}/{_SAMPLE}")) > _MAX_IN_SAMPLE
    except OSError:
        return False
