"""The record of a claim: the message of the commit that its ref points to.

The message is a line for people and a JSON object. The nonce makes every record
different: two equal commits would have the same id, and two pushes that race would both
seem to succeed.
"""

from __future__ import annotations

from wc_core.base.lean import hashlib, json
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
FOLDER = "refs/wc/claims/"
WRITE, READ = "write", "read"
MODES = (WRITE, READ)

MAX_RECORD_BYTES = 16384
MIN_TTL, MAX_TTL = 10, 7 * 24 * 3600
# Of the name of a ref, after the folder.
REF_DIGITS = 40
_MAX_TEXT = 500
# The end of the year 9999, the last one that calendars support.
_MAX_TIME = 253402300799


class Claim(NamedTuple):
    """A claim on ``id`` by ``holder``.

    - ``session``: the process of the holder's session, see
      `wc_core.edits.claims.sessions`
    - ``worktree``, ``branch``, ``head``: where the holder works
    - ``thread``, ``entry``: the thread that it is about, and its last entry then
    - ``ttl_s``: for how long it holds without being renewed
    - ``set``: the same in all claims that were made together
    - ``new``: whether the target does not exist yet
    - ``at``: when it was made or renewed, by its holder's clock, in seconds since 1970
    - ``oid``: the commit with the record
    """

    id: str
    mode: str
    holder: str
    session: str = ""
    worktree: str = ""
    thread: str = ""
    entry: str = ""
    branch: str = ""
    head: str = ""
    ttl_s: int = 900
    nonce: str = ""
    set: str = ""
    note: str = ""
    new: bool = False
    at: int = 0
    oid: str = ""

    @property
    def target(self) -> ids.ClaimId:
        """The target of the claim."""
        return ids.parse(self.id)

    @property
    def ref(self) -> str:
        """The ref of this claim. Readers do not exclude each other, so their refs
        contain the holder."""
        reader = self.holder if self.mode == READ else ""
        return ref_of(self.id, reader)


def ref_of(claim_id: str, reader: str = "") -> str:
    """The ref of a claim on an id: for writing, or for a ``reader``."""
    text = f"{claim_id}\0read\0{reader}" if reader else claim_id
    data = text.encode("utf-8", "surrogatepass")
    digest = hashlib.new("sha256", data, usedforsecurity=False).hexdigest()
    return f"{FOLDER}{digest[:REF_DIGITS]}"


def encode(claim: Claim) -> bytes:
    """The message of the commit of a claim."""
    fields: dict[str, Any] = {"v": VERSION, **claim._asdict()}
    for name in ("at", "oid"):
        del fields[name]
    if not claim.new:
        del fields["new"]
    line = one_line(f"{claim.holder}: {claim.mode} {claim.id}", 72)
    text = f"{line}\n\n{json.dumps(fields, separators=(',', ':'))}\n"
    return text.encode(errors="replace")


def decode(commit: bytes, ref: str, oid: str) -> Claim | None:
    """The claim in a commit, as git stores one; ``None`` if it has none, or one for
    another ref. Its texts are on one line, and of a bounded length."""
    if len(commit) > MAX_RECORD_BYTES:
        return None
    head, _, message = commit.partition(b"\n\n")
    try:
        fields = json.loads(message[message.index(b"\n\n{") :])
        claim = _from_fields(fields)._replace(at=_committed_at(head), oid=oid)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_valid = ids.is_canonical(claim.id) and claim.mode in MODES
    return claim if is_valid and claim.holder and claim.ref == ref else None


def _from_fields(fields: dict[str, Any]) -> Claim:
    if fields["v"] != VERSION:
        raise ValueError("an unknown version")
    values: dict[str, Any] = {}
    for name, default in Claim("", "", "")._asdict().items():
        value = fields.get(name, default)
        if type(value) is not type(default):
            raise TypeError(name)
        values[name] = value
    for name in ("holder", "thread", "branch", "note"):
        values[name] = one_line(values[name], _MAX_TEXT)
    values["ttl_s"] = max(MIN_TTL, min(values["ttl_s"], MAX_TTL))
    return Claim(**values)


def _committed_at(head: bytes) -> int:
    """The time of the committer, in seconds since 1970."""
    for line in head.split(b"\n"):
        if line.startswith(b"committer "):
            return max(0, min(int(line.rsplit(b" ", 2)[1]), _MAX_TIME))
    raise ValueError("no committer")
