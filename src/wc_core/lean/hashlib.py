"""SHA-1, which git names objects with, and SHA-256, without the OpenSSL that `hashlib`
loads."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _hashlib import HASH
    from hashlib import new
    from typing import Any
else:

    def new(algorithm: str, data: bytes, *, usedforsecurity: bool) -> HASH:
        """Return the hash of ``data``."""
        if algorithm == "sha1" and not usedforsecurity and _sha1 is not None:
            return _sha1(data)
        if algorithm == "sha256" and not usedforsecurity:
            sha256 = _sha256()
            if sha256 is not None:
                return sha256(data)
        import hashlib  # 3 ms, only where Python has neither of its own

        return hashlib.new(algorithm, data, usedforsecurity=usedforsecurity)

    def _sha256() -> Any:
        for name in ("_sha2", "_sha256"):  # since Python 3.12, and before
            try:
                return __import__(name).sha256
            except (ImportError, AttributeError):
                continue
        return None

    try:
        from _sha1 import sha1 as _sha1
    except ImportError:
        _sha1 = None

__all__ = ["new"]
