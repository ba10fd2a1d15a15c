"""Which file systems never say what somebody else did to them."""

from __future__ import annotations

import re

# Types as /proc/self/mountinfo has them. The kernel tells of what this machine
# does; of these, another machine, or the host of this one, may be the writer.
NETWORK = frozenset(
    {"9p", "acfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs"}
    | {"gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2"}
    | {"orangefs", "prl_fs", "pvfs2", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs"}
    | {"vmhgfs", "fuse.ceph", "fuse.davfs2", "fuse.gcsfuse", "fuse.glusterfs"}
    | {"fuse.goofys", "fuse.grpcfuse", "fuse.gvfsd-fuse", "fuse.juicefs"}
    | {"fuse.mount.davfs", "fuse.osxfs", "fuse.prl_fs", "fuse.rclone", "fuse.s3fs"}
    | {"fuse.sshfs", "fuse.vmhgfs-fuse"}
)

_MOUNTS = "/proc/self/mountinfo"
_OCTAL = re.compile(r"\\([0-7]{3})")


def mounted() -> str:
    """What is mounted where; empty on a system that does not say."""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as mounts:
            return mounts.read()
    except OSError:
        return ""


def network_type(mountinfo: str, path: str) -> str:
    """The type of the network file system that ``path`` lies on; empty for
    one of this machine, and where nothing is known.

    ``path`` is absolute, with its links resolved. The format is that of
    proc_pid_mountinfo(5).
    """
    found, longest = "", -1
    for line in mountinfo.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 5:  # noqa: PLR2004  (the mount point is fifth)
            continue
        point = _OCTAL.sub(lambda one: chr(int(one[1], 8)), fields[4])
        # Of two on one point, the later one hides the earlier one.
        if _holds(point, path) and len(point) >= longest:
            found, longest = after.split(" ")[0], len(point)
    return found if found in NETWORK else ""


def _holds(point: str, path: str) -> bool:
    return path == point or path.startswith(f"{point.rstrip('/')}/")
