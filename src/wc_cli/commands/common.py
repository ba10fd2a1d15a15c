"""The options that many commands have."""

from __future__ import annotations

from wc_cli.options import Options, flag, text


class SpeakerOptions(Options):
    """The speaker, and the form of the answer."""

    as_name: str = text("--as", "NAME", "Speak as this agent or person.")
    seat: str = text("--seat", "SEAT", "Speak from this seat (a linked worktree).")
    json: bool = flag("--json", help="Answer in JSON.")


class WriteOptions(SpeakerOptions):
    """The conditions of a write, and the key that makes a retry safe."""

    key: str = text("--key", "KEY", "Write at most once under this key.")
    if_ball: str = text(
        "--if-ball",
        "NAME",
        "Only if this name has the ball (or: me, anyone).",
        complete="agent",
    )
    if_last: str = text("--if-last", "ENTRY", "Only if this is the last entry.")
    lock_timeout: str = text(
        "--lock-timeout", "SECONDS", "Wait this long for another writer.", default="2"
    )
    sync: bool = flag("--sync", help="Wait until it is committed and pushed.")
