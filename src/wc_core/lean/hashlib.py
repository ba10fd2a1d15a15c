"""SHA-1, which git names objects with, without the OpenSSL that `hashlib` loads."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _hashlib import HASH
    from hashlib import new
else:

    def new(algorithm: str, data: bytes, *, usedforsecurity: bool) -> HASH:
        """Return the hash of ``data``."""
        if algorithm == "sha1" and not usedforsecurity and _sha1 is not None:
            return _sha1(data)
        import hashlib  # 3 ms, only for repositories with SHA-256

        return hashlib.new(algorithm, data, usedforsecurity=usedforsecurity)

    try:
        from _sha1 import sha1 as _sha1
    except ImportError:
        _sha1 = None

__all__ = ["new"]
