"""The base class of values: what `typing.NamedTuple` makes, made faster.

    class Place(NamedTuple):
        row: int
        column: int = 0

`typing.NamedTuple` compiles each annotation and a constructor when its class is made,
and `typing` itself takes 7 ms to import. A command makes about 60 classes and never
calls most of them. For type checkers, this is `typing.NamedTuple`.
"""

from __future__ import annotations

__all__ = ["NamedTuple", "known_fields"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, NamedTuple  # noqa: TID251
else:
    try:
        from _collections import _tuplegetter
    except ImportError:
        from collections import _tuplegetter

    # Compiling a constructor takes as long as this many calls of an uncompiled one with
    # names or defaults. With a value for each field, neither is faster.
    _CALLS_WORTH_COMPILING = 25

    class _ValueType(type):
        """Makes a named tuple of the fields, defaults and methods in a class."""

        def __new__(
            cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
        ) -> type:
            """The class that a ``class`` statement defines."""
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {
                field: namespace.pop(field) for field in fields if field in namespace
            }
            members = {
                field: _tuplegetter(index, f"Alias for field number {index}")
                for index, field in enumerate(fields)
            }
            return type(
                name,
                (tuple,),
                _METHODS
                | members
                | namespace
                | {
                    "__slots__": (),
                    "__match_args__": fields,
                    "_fields": fields,
                    "_field_defaults": defaults,
                    "__new__": _constructor(),
                },
            )

    class NamedTuple(metaclass=_ValueType):
        """The base of the classes; no object is an instance of it."""

    _new = tuple.__new__

    def _constructor() -> Callable[..., Any]:
        """A constructor that matches its arguments, until it was called so often that
        compiling one is worthwhile."""
        calls = 0

        def construct(cls: Any, /, *values: Any, **named: Any) -> Any:
            nonlocal calls
            if named or len(values) != len(cls._fields):
                calls += 1
                if calls == _CALLS_WORTH_COMPILING:
                    _compile_constructor(cls)
                values = _all_values(cls, values, named)
            return _new(cls, values)

        return construct

    def _all_values(
        cls: Any, values: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The values of all fields. Raises TypeError for too few, too many, or for a
        name that is not a field or already has a value."""
        fields = cls._fields[len(values) :]
        available = cls._field_defaults | named
        missing = [field for field in fields if field not in available]
        if missing:
            raise TypeError(f"{cls.__name__}: no value for {', '.join(missing)}")
        if len(values) > len(cls._fields):
            raise TypeError(f"{cls.__name__}: more than {len(cls._fields)} values")
        if not named.keys() <= set(fields):
            unknown = ", ".join(named.keys() - set(fields))
            raise TypeError(f"{cls.__name__}: no such field, or given twice: {unknown}")
        return (*values, *[available[field] for field in fields])

    def _compile_constructor(cls: Any) -> None:
        """Give the class a constructor with its fields as arguments."""
        arguments = "".join(f"{field}, " for field in cls._fields)
        source = f"lambda _cls, {arguments}: _new(_cls, ({arguments}))"
        construct = eval(source, {"_new": _new, "__builtins__": {}})  # noqa: S307
        construct.__name__ = "__new__"
        construct.__qualname__ = f"{cls.__qualname__}.__new__"
        construct.__module__ = cls.__module__
        construct.__defaults__ = tuple(cls._field_defaults.values())
        construct.__annotations__ = cls.__annotations__
        cls.__new__ = staticmethod(construct)

    class _Signature:
        """The result of `inspect.signature` for the class: that of the compiled
        constructor."""

        def __get__(self, value: Any, cls: Any) -> Any:
            import inspect  # 13 ms; no command calls this

            _compile_constructor(cls)
            signature = inspect.signature(cls.__new__)
            return signature.replace(parameters=[*signature.parameters.values()][1:])

    def _make(cls: Any, values: Iterable[Any]) -> Any:
        """Make one of an iterable with a value for each field."""
        value = _new(cls, values)
        if len(value) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(value)}")
        return value

    def _replace(self: Any, /, **changes: Any) -> Any:
        """Return a copy with other values for these fields."""
        changed = _new(type(self), map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {[*changes]}")
        return changed

    def _asdict(self: Any) -> dict[str, Any]:
        """Return the values by field."""
        return dict(zip(self._fields, self, strict=True))

    def _repr(self: Any) -> str:
        values = zip(self._fields, self, strict=True)
        fields = ", ".join([f"{field}={value!r}" for field, value in values])
        return f"{type(self).__name__}({fields})"

    def _getnewargs(self: Any) -> tuple[Any, ...]:
        """Return the values as a plain tuple, for copies and pickles."""
        return tuple(self)

    _METHODS = {
        "__signature__": _Signature(),
        "__repr__": _repr,
        "__getnewargs__": _getnewargs,
        "_make": classmethod(_make),
        "_replace": _replace,
        "_asdict": _asdict,
    }


def known_fields(kind: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """The ``values`` for which a class has a field: in a file, another version of wc
    may have left more. Raises AttributeError for anything but a mapping."""
    return {name: value for name, value in values.items() if name in kind._fields}
