"""Stands for a `wc-observe` that is forked, see `forking.observing`: hands over its
standard streams, passes signals on, and ends as it does.

Run as a program of its own, with the path of the socket that is asked through and
the words for `wc-observe`. It starts in a fiftieth of the time.
"""

from __future__ import annotations

import marshal
import os
import signal
import socket
import struct
import sys

NUMBER = struct.Struct("i")
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main() -> None:
    """Ask for it, and wait for its end."""
    path, *words = sys.argv[1:]
    # The server may have answered, and someone may end it, before it is known here.
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    asker, theirs = socket.socketpair()
    with theirs, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
        asking.connect(path)
        socket.send_fds(asking, [b"?"], [theirs.fileno(), 0, 1, 2])
    wanted = ([os.fsencode(one) for one in words], os.getcwd(), dict(os.environb))
    asker.sendall(marshal.dumps(wanted))
    (pid,) = NUMBER.unpack(asker.recv(NUMBER.size, socket.MSG_WAITALL))
    for number in PASSED_ON:
        signal.signal(number, lambda number, _: os.kill(pid, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    # Nobody but that process has the other ends.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    (status,) = NUMBER.unpack(asker.recv(NUMBER.size, socket.MSG_WAITALL))
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


main()
