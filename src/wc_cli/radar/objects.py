"""A separate place for git's objects of snapshots and merges, outside of the
repository.

The repository of a user should not grow with every edit, and what is not committed
should not get into its packs. git reads the objects of the repository as alternates.
"""

from __future__ import annotations

import os
import shutil
import tempfile

from wc_cli.store import durable
from wc_core.lean import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.layout import Layout

# As `git gc --auto` does it: one folder of 256 is counted.
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
        """The environment in which git writes objects of snapshots, and has ``index``
        for its index."""
        alternates = _alternates(f"{self.common}/objects")
        return {
            "GIT_OBJECT_DIRECTORY": self.snapshots,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": alternates,
            "GIT_INDEX_FILE": index,
        }

    @property
    def merge_env(self) -> dict[str, str]:
        """The environment in which git reads snapshots and writes merges."""
        alternates = _alternates(self.snapshots, f"{self.common}/objects")
        return {
            "GIT_OBJECT_DIRECTORY": self.merges,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": alternates,
        }

    def has_snapshot(self, commit: str) -> bool:
        """Whether a commit is still among the snapshots."""
        return os.path.isfile(f"{self.snapshots}/{commit[:2]}/{commit[2:]}")


def _alternates(*folders: str) -> str:
    """The folders in the syntax of git's variable, which separates them by colons."""
    return ":".join(map(_quoted, folders))


def _quoted(folder: str) -> str:
    if ":" not in folder and not folder.startswith('"'):
        return folder
    escaped = folder.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@contextlib.contextmanager
def objects_of(common: str, layout: Layout | None) -> Iterator[Objects]:
    """The folders of objects for a repository's git directory, for a block. Without a
    store, nothing stays. With one, the caller holds the lock of the radar."""
    if layout is None:
        with tempfile.TemporaryDirectory(prefix="wc-radar-") as temporary:
            snapshots = f"{temporary}/snapshots"
            os.mkdir(snapshots, 0o700)
            yield Objects(common, snapshots, temporary)
        return
    # What a radar that was killed has left.
    shutil.rmtree(layout.merges, ignore_errors=True)
    durable.make_folder(layout.merges, layout.root, flush=False)
    if _is_large(layout.snapshots):
        # First out of the way: nobody may believe in a half of them.
        durable.move(layout.snapshots, f"{layout.merges}/old", layout.root)
    durable.make_folder(layout.snapshots, layout.root, flush=False)
    with tempfile.TemporaryDirectory(dir=layout.merges) as temporary:
        shutil.rmtree(f"{layout.merges}/old", ignore_errors=True)
        yield Objects(common, layout.snapshots, temporary)


def _is_large(folder: str) -> bool:
    """Whether there are many objects of old snapshots in a folder."""
    if os.path.islink(folder):
        return False
    try:
        return len(os.listdir(f"{folder}/{_SAMPLE}")) > _MAX_IN_SAMPLE
    except OSError:
        return False
