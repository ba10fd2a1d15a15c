"""`unicodedata`, imported for the first text that is not ASCII."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unicodedata import (
        bidirectional,
        category,
        combining,
        east_asian_width,
        normalize,
    )
else:

    def normalize(form: str, text: str) -> str:
        """Return the text in a normal form. ASCII text is in each of them."""
        return text if text.isascii() else _library().normalize(form, text)

    def __getattr__(name: str) -> object:
        """Return another function of the library, when it is first used."""
        function = globals()[name] = getattr(_library(), name)
        return function

    def _library() -> object:
        import unicodedata  # 0.3 ms, only for text that is not ASCII

        return unicodedata


__all__ = [
    "bidirectional",
    "category",
    "combining",
    "east_asian_width",
    "normalize",
]
