"""Network file systems: other machines may write to them and lock their files.

The kernel does not report what other machines change on these.
"""

from __future__ import annotations

from wc_core.base.lean import re

# Types as in /proc/self/mountinfo. The kernel reports what this machine writes. On
# these, another machine, or the host of this one, may write as well.
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


def mount_table() -> str:
    """Returns the kernel's table of mounts, or an empty string on systems without
    one."""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as mounts:
            return mounts.read()
    except OSError:
        return ""


def network_type(mountinfo: str, path: str) -> str:
    """Returns the type of the network file system that ``path`` is on, or an empty
    string for a local or unknown one.

    ``path`` is absolute, with its links resolved. The format is described in
    proc_pid_mountinfo(5).
    """
    kind, longest = "", -1
    for line in mountinfo.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 5:  # noqa: PLR2004  (the mount point is fifth)
            continue
        point = _OCTAL.sub(lambda escape: chr(int(escape[1], 8)), fields[4])
        # A later mount on the same point hides the earlier one.
        if _contains(point, path) and len(point) >= longest:
            kind, longest = after.split(" ")[0], len(point)
    return kind if kind in NETWORK else ""


def _contains(point: str, path: str) -> bool:
    return path == point or path.startswith(f"{point.rstrip('/')}/")
