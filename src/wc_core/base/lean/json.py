"""`json.loads` and `json.dumps`, without `re` and the parser in Python.

The parser and the encoder in C are used directly. Everything that they cannot do,
including every error, is left to `json`.

Gains 3.7 ms of `wc list` and 4.3 of `wc ack`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from json import dumps, loads
    from typing import Any, NoReturn
else:
    import _json

    _BLANKS = " \t\n\r"

    class _Usual:
        """The settings of a parser without any options."""

        strict = True
        object_hook = object_pairs_hook = None
        parse_float, parse_int = float, int
        parse_constant = {
            "-Infinity": float("-inf"),
            "Infinity": float("inf"),
            "NaN": float("nan"),
        }.__getitem__

    _scan = _json.make_scanner(_Usual)

    def loads(data: str | bytes) -> Any:
        """Decode a JSON document, as `json.loads` does."""
        try:
            text = data if isinstance(data, str) else data.decode()
            text = text.strip(_BLANKS)
            value, end = _scan(text, 0)
            if end == len(text):
                return value
        except (StopIteration, ValueError, SystemError):
            pass  # SystemError: the parser finds no class of errors to raise
        import json  # 6 ms with re, for text that is not JSON, or not UTF-8

        return json.loads(data)

    def dumps(
        value: Any,
        *,
        ensure_ascii: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] = (", ", ": "),
        sort_keys: bool = False,
    ) -> str:
        """Encode a value, as `json.dumps` does."""
        if indent is not None and sort_keys:
            import json  # 6 ms with re, hardly ever

            return json.dumps(
                value, ensure_ascii=ensure_ascii, indent=indent, sort_keys=True
            )
        text = _json.encode_basestring
        if ensure_ascii:
            text = _json.encode_basestring_ascii
        between, colon = separators
        encode = _json.make_encoder(
            {}, _refuse, text, None, colon, between, sort_keys, False, True
        )
        if indent is None:
            return "".join(encode(value, 0))
        return _indented(value, encode, "\n", " " * indent)

    def _refuse(value: object) -> NoReturn:
        name = type(value).__name__
        raise TypeError(f"Object of type {name} is not JSON serializable")

    def _indented(value: Any, encode: Any, margin: str, step: str) -> str:
        """The text of a value with each member on its own line."""
        inner = margin + step
        if isinstance(value, dict) and value:
            # The text of a key is what precedes the number in {"key": 0}.
            members = [
                "".join(encode({key: 0}, 0))[1:-2]
                + _indented(member, encode, inner, step)
                for key, member in value.items()
            ]
            return f"{{{inner}{f',{inner}'.join(members)}{margin}}}"
        if isinstance(value, list | tuple) and value:
            members = [_indented(member, encode, inner, step) for member in value]
            return f"[{inner}{f',{inner}'.join(members)}{margin}]"
        return "".join(encode(value, 0))


__all__ = ["dumps", "loads"]
