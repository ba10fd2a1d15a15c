from __future__ import annotations

import inspect
import pickle
import typing

import pytest

from wc_core.values import NamedTuple


class Place(NamedTuple):
    """Where a cell is."""

    row: int
    column: int = 0

    @property
    def is_first(self) -> bool:
        return self == Place(0)

    def below(self) -> Place:
        return self._replace(row=self.row + 1)


class StandardPlace(typing.NamedTuple):
    """Where a cell is."""

    row: int
    column: int = 0


def test_a_value_has_fields_defaults_and_methods() -> None:
    place = Place(2)
    assert (place.row, place.column) == (2, 0)
    assert place.below() == Place(row=3)
    assert Place(0).is_first
    assert not place.is_first
    assert repr(place) == "Place(row=2, column=0)"
    assert place._asdict() == {"row": 2, "column": 0}


@pytest.mark.parametrize(
    "words", [(), (1, 2, 3)], ids=["too few values", "too many values"]
)
def test_a_value_has_no_other_fields(words: tuple[int, ...]) -> None:
    with pytest.raises(TypeError):
        Place(*words)
    with pytest.raises(AttributeError):
        Place(1).elsewhere = 1  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        Place(1).row = 1  # type: ignore[misc]


def test_its_class_is_like_that_of_the_standard_library() -> None:
    assert Place._fields == StandardPlace._fields
    assert Place._field_defaults == StandardPlace._field_defaults
    assert Place.__mro__[1:] == StandardPlace.__mro__[1:]
    assert Place.__match_args__ == StandardPlace.__match_args__
    assert Place.__doc__ == StandardPlace.__doc__
    assert Place.__module__ == StandardPlace.__module__
    assert typing.get_type_hints(Place) == typing.get_type_hints(StandardPlace)
    parameters = inspect.signature(Place).parameters
    assert [str(parameter) for parameter in parameters.values()] == [
        "row: 'int'",
        "column: 'int' = 0",
    ]


def test_a_value_can_be_pickled_and_has_no_dictionary() -> None:
    assert pickle.loads(pickle.dumps(Place(2, 3))) == Place(2, 3)
    assert not hasattr(Place(2), "__dict__")


def test_a_class_in_a_class_has_its_qualified_name() -> None:
    class Inner(NamedTuple):
        word: str

    name = "test_a_class_in_a_class_has_its_qualified_name.<locals>.Inner"
    assert Inner.__qualname__ == name
