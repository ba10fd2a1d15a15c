"""The kernel's table of mounts, and what it says about a path."""

from __future__ import annotations

import sys

import pytest

from wc_core.base import mounts

MOUNTS = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:26 / /proc rw - proc proc rw
40 22 0:41 / /home rw shared:9 - nfs4 server:/home rw,vers=4.2
41 40 254:3 / /home/pat/local rw - ext4 /dev/vdb rw
42 22 0:50 / /mnt/my\040disk rw - fuse.sshfs pat@host: rw
43 22 0:51 / /mnt/c rw - 9p drvfs rw
44 22 0:52 / /usb rw - fuseblk /dev/sdc1 rw
45 22 0:53 / /twice rw - cifs //a/b rw
46 45 254:9 / /twice rw - xfs /dev/vdd rw
47 22 0:54 / /win rw master:1 propagate_from:2 - smb3 //a/c rw
nonsense
48 22 - nfs x
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", ""),
        ("/srv/store", ""),
        ("/home", "nfs4"),
        ("/home/pat/store", "nfs4"),
        ("/homes/pat", ""),
        ("/home/pat/local/store", ""),
        ("/home/pat/localx", "nfs4"),
        ("/mnt/my disk/x", "fuse.sshfs"),
        ("/mnt/c/Users", "9p"),
        ("/usb/store", ""),
        ("/twice/store", ""),
        ("/win", "smb3"),
    ],
)
def test_a_network_file_system_is_known_by_what_is_mounted(
    path: str, kind: str
) -> None:
    assert mounts.network_type(MOUNTS, path) == kind
    assert mounts.network_type("", path) == ""


def test_what_is_mounted_here_can_be_read_where_the_system_says_it() -> None:
    assert (" / " in mounts.mount_table()) == (sys.platform == "linux")
