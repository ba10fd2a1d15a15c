"""JSON with comments is changed where it stands, and all other bytes stay."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_cli.agents.install.formats import jsonc
from wc_cli.agents.install.formats.jsonc import UnreadableError

SERVER = {"command": "wc-observe", "args": []}
INLINE = '{"command": "wc-observe", "args": []}'
# Before and after; what is written is indented like what is there.
PUT: dict[str, tuple[str, str]] = {
    "nothing": ("", '{\n  "m": {\n    "w": 1\n  }\n}\n'),
    "an empty object": ("{}", '{\n  "m": {\n    "w": 1\n  }\n}'),
    "only a comment": ("// hi", '// hi\n{\n  "m": {\n    "w": 1\n  }\n}\n'),
    "on one line": ('{"a":1}\n', '{"a":1, "m": {"w": 1}}\n'),
    "tabs": ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"m": {\n\t\t"w": 1\n\t}\n}'),
    "four blanks": (
        '{\n    "m": {\n        "a": 1\n    }\n}\n',
        '{\n    "m": {\n        "a": 1,\n        "w": 1\n    }\n}\n',
    ),
    "a comment at the end of the line": (
        '{\n  "a": 1 // one\n}\n',
        '{\n  "a": 1, // one\n  "m": {\n    "w": 1\n  }\n}\n',
    ),
    "a comma after the last one": (
        '{\n  "a": 1, /* one */\n  // two\n}\n',
        '{\n  "a": 1, /* one */\n  "m": {\n    "w": 1\n  },\n  // two\n}\n',
    ),
    "a comment in an empty object": (
        '{\n  "m": {\n    // mine\n  }\n}\n',
        '{\n  "m": {\n    // mine\n    "w": 1\n  }\n}\n',
    ),
    "a mark and other line breaks": (
        '\ufeff{\r\n  "m": {}\r\n}',
        '\ufeff{\r\n  "m": {\r\n    "w": 1\r\n  }\r\n}',
    ),
    "an object on a line of its own": (
        '{\n  "m": {"a": [1,2]}\n}\n',
        '{\n  "m": {"a": [1,2], "w": 1}\n}\n',
    ),
    "another value": ('{ "m" : { "w" : 0 } }', '{ "m" : { "w" : 1 } }'),
}


@pytest.mark.parametrize("case", PUT)
def test_a_member_is_put_where_it_belongs(case: str) -> None:
    before, after = PUT[case]
    assert jsonc.set_value(before, ("m", "w"), 1).text == after


def test_half_a_character_stays_an_escape() -> None:
    half = r'{"w": "\ud800"}'
    node = jsonc.parse(half)
    assert node is not None
    for text in ("{}", "{\n}"):
        after = jsonc.set_value(text, ("m",), node.value).text
        assert "ud800" in after.encode().decode()
        found = jsonc.find(after, ("m",))
        assert found is not None
        assert found.value == node.value


def test_an_item_is_written_like_its_neighbours() -> None:
    text = '{\n  "a": [\n    "x", // why\n    "y"\n  ],\n  "b": ["x"]\n}\n'
    text = jsonc.append_item(text, ("a",), "z").text
    text = jsonc.append_item(text, ("b",), "z").text
    assert text == (
        '{\n  "a": [\n    "x", // why\n    "y",\n    "z"\n  ],\n  "b": ["x", "z"]\n}\n'
    )
    assert jsonc.append_item("{}", ("a", "b"), 1).text == (
        '{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}'
    )


WRONG = {
    '{"a": }': (1, 7, "a value is missing"),
    '{"a": 1\n "b": 2}': (2, 2, "a comma or } is missing"),
    "{\r\n a: 1}": (2, 2, "a key in quotes is missing"),
    '{"a" 1}': (1, 6, "a colon is missing"),
    '{"a": "x\n"}': (1, 7, "unterminated string"),
    '{"a": "\\q"}': (1, 7, "invalid escape in a string"),
    f'{{"a": {"1" * 5000}}}': (1, 7, "a number with too many digits"),
    '{"a": 1} x': (1, 10, "unexpected text after the end"),
    '{"a": /* 1}': (1, 7, "unterminated comment"),
    '{"a": 01}': (1, 8, "a comma or } is missing"),
    '{"a": NaN}': (1, 7, "not JSON"),
    '{"a": 1': (1, 8, "a comma or } is missing"),
    "[" * 200: (1, 102, "nested too deeply"),
    "<<<<<<< HEAD\n{}": (1, 1, "not JSON"),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_reported_with_its_place(text: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        jsonc.parse(text)
    found = caught.value
    assert (found.line, found.column, found.problem) == WRONG[text]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"m": null}', "m is not an object"),
        ("[1]", "the whole is not an object"),
        ('{"m": {}, "m": {}}', '"m" is there twice'),
    ],
)
def test_a_way_that_leads_nowhere_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UnreadableError, match=problem):
        jsonc.set_value(text, ("m", "w"), 1)


def test_what_is_no_array_gets_no_item() -> None:
    with pytest.raises(UnreadableError, match="m is not an array"):
        jsonc.append_item('{"m": {}}', ("m",), 1)


def test_values_are_distinguished_as_in_json() -> None:
    assert jsonc.are_same({"a": 1, "b": [2]}, {"b": [2], "a": 1})
    assert not jsonc.are_same(1, True)
    assert not jsonc.are_same(1, 1.0)


# Texts as people write them: any value, with blanks and comments anywhere.
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
_GAPS = st.sampled_from(
    [*("", " ", "\n", "\n  ", "\t", "\r\n", "// c\n", " /* , } */ ", "\n  // x: 1\n")]
)


@st.composite
def texts(draw: st.DrawFn, value: Any = None) -> str:
    """A text of an object, or of a value."""
    if value is None:
        value = draw(st.dictionaries(st.text(max_size=3), _VALUES, max_size=4))
    indents: list[int | str | None] = [None, 1, 2, 4, "\t"]
    words: str = _loose(draw, value)
    if draw(st.booleans()):
        words = json.dumps(value, indent=draw(st.sampled_from(indents)))
    lead: str = draw(st.sampled_from(["", "\ufeff", "// top\n"]))
    return lead + words + draw(st.sampled_from(["", "\n", "\n// end\n"]))


def _loose(draw: st.DrawFn, value: Any) -> str:
    if isinstance(value, dict):
        pairs = [
            f"{json.dumps(key)}{draw(_GAPS)}:{draw(_GAPS)}{_loose(draw, one)}"
            for key, one in value.items()
        ]
    elif isinstance(value, list):
        pairs = [_loose(draw, one) for one in value]
    else:
        return json.dumps(value)
    body = ",".join(f"{draw(_GAPS)}{one}{draw(_GAPS)}" for one in pairs)
    tail = "," + draw(_GAPS) if bool(pairs) and draw(st.booleans()) else draw(_GAPS)
    first, last = "{}" if isinstance(value, dict) else "[]"
    return first + body + tail + last


def _comments(text: str) -> list[str]:
    return [one for one in ("// c", "/* , } */", "// x: 1", "// top") if one in text]


@given(texts(), st.sampled_from(["w", "é\n"]), _VALUES)
def test_a_member_that_is_put_is_all_that_changes(
    text: str, name: str, value: Any
) -> None:
    before = jsonc.parse(text)
    assert before is not None
    if name in before.value:
        return
    after = jsonc.set_value(text, (name,), value).text
    node = jsonc.parse(after)
    assert node is not None
    assert jsonc.are_same(node.value, {**before.value, name: value})
    assert _comments(after) == _comments(text)
    index = [one.key for one in node.elements or ()].index(name)
    back = jsonc.without_element(after, node, index)
    if before.elements:
        assert back == text
    else:
        assert jsonc.are_same(getattr(jsonc.parse(back), "value", None), {})
        assert _comments(back) == _comments(text)


@given(texts(), st.data())
def test_any_member_can_be_taken_out_and_the_rest_stays(
    text: str, data: st.DataObject
) -> None:
    node = jsonc.parse(text)
    assert node is not None
    if not node.elements:
        return
    index = data.draw(st.integers(0, len(node.elements) - 1))
    rest = jsonc.parse(jsonc.without_element(text, node, index))
    assert rest is not None
    key = node.elements[index].key
    assert jsonc.are_same(
        rest.value, {name: one for name, one in node.value.items() if name != key}
    )


@given(texts(), _VALUES)
def test_a_nested_member_and_an_item_are_all_that_changes(
    text: str, value: Any
) -> None:
    node = jsonc.parse(text)
    assert node is not None
    made = jsonc.set_value(text, ("new w", "x", "y"), value).text
    added = jsonc.append_item(made, ("new w", "z"), value).text
    found = jsonc.parse(added)
    assert found is not None
    wanted = {"x": {"y": value}, "z": [value]}
    assert jsonc.are_same(found.value, {**node.value, "new w": wanted})


@given(st.text(alphabet='{}[]",:/*\n\\ a1-.eE', max_size=30))
def test_whatever_a_text_is_it_is_read_or_refused(text: str) -> None:
    problem = None
    node = None
    try:
        node = jsonc.parse(text)
    except UnreadableError as error:
        problem = error
    assert problem is None or 1 <= problem.line <= text.count("\n") + 1
    if node is not None and "/" not in text and not _trailing(node):
        assert jsonc.are_same(json.loads(text), node.value)


def _trailing(node: jsonc.Node) -> bool:
    elements = node.elements or ()
    return any(_trailing(one.node) for one in elements) or (
        bool(elements) and elements[-1].comma >= 0
    )


@given(texts(), _VALUES, st.sampled_from(["w", "a"]))
def test_what_someone_put_behind_ours_stands_as_if_we_had_not_been_there(
    text: str, value: Any, name: str
) -> None:
    node = jsonc.parse(text)
    assert node is not None
    if not node.elements or {"ours", name} & node.value.keys():
        return
    both = jsonc.set_value(text, ("ours",), value).text
    both = jsonc.set_value(both, (name,), [1]).text
    found = jsonc.parse(both)
    assert found is not None
    index = [one.key for one in found.elements or ()].index("ours")
    alone = jsonc.set_value(text, (name,), [1]).text
    assert jsonc.without_element(both, found, index) == alone
