"""SHA-1, which git names objects with, and SHA-256, without the OpenSSL that `hashlib`
loads."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _hashlib import HASH
    from hashlib import new
else:
    # Modules of Python that have only this hash; SHA-256 since Python 3.12, and before.
    _MODULES = {"sha1": ("_sha1",), "sha256": ("_sha2", "_sha256")}

    def new(algorithm: str, data: bytes, *, usedforsecurity: bool) -> HASH:
        """Return the hash of ``data``."""
        for name in () if usedforsecurity else _MODULES.get(algorithm, ()):
            try:
                return getattr(__import__(name), algorithm)(data)
            except (ImportError, AttributeError):
                continue
        import hashlib  # 3 ms, only where Python has neither of its own

        return hashlib.new(algorithm, data, usedforsecurity=usedforsecurity)


__all__ = ["new"]
