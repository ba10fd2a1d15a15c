"""All claims of a remote in one branch, for remotes that take no refs of ours, or no
atomic pushes.

The message of the commit at the tip of the branch is a line for people and one object
in JSON, with the commit of each ref of a claim::

    {"v":1,"atomic":false,"claims":{"refs/wc/claims/5f0c…":"81ab…"}}

``atomic`` says whether the remote takes atomic pushes. The commits of the claims are
parents of the commit that brought them, beside the one before it, so that they come and
go with the branch, which only ever moves forward.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.lean import json
from wc_core.base.phrases import counted
from wc_core.base.text import is_hexadecimal
from wc_core.base.values import NamedTuple
from wc_core.edits.claims.record import FOLDER, REF_DIGITS
from wc_core.ledger.git.repository import is_object_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1


class CombinedClaims(NamedTuple):
    """The commit of each ref of a claim, in the commit ``tip`` of the branch; empty if
    the branch does not exist yet."""

    tip: str = ""
    claims: Mapping[str, str] = MappingProxyType({})
    atomic: bool = True


def encode(combined: CombinedClaims) -> bytes:
    """The message of a commit with these claims."""
    fields = {
        "v": VERSION,
        "atomic": combined.atomic,
        "claims": dict(sorted(combined.claims.items())),
    }
    text = json.dumps(fields, separators=(",", ":"))
    return f"{counted(len(combined.claims), 'claim')}\n\n{text}\n".encode()


def decode(commit: bytes, tip: str) -> CombinedClaims | None:
    """The claims in a commit, as git stores one; ``None`` for any other commit."""
    message = commit.partition(b"\n\n")[2]
    try:
        fields = json.loads(message[message.index(b"\n\n{") :])
        pairs = fields["claims"].items()
        if fields["v"] != VERSION or not all(_is_pair(*pair) for pair in pairs):
            return None
        return CombinedClaims(tip, dict(pairs), fields["atomic"] is True)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _is_pair(ref: str, oid: object) -> bool:
    """Whether these are the ref of a claim and the id of a commit."""
    digits = ref.removeprefix(FOLDER)
    is_ref = digits != ref and is_hexadecimal(digits, REF_DIGITS)
    return is_ref and isinstance(oid, str) and is_object_id(oid)
