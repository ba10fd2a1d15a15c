from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wc_core.base.text import clean, defused, is_hexadecimal, one_line, one_lines

HOSTILE = "\x1b\x9b\x9d\x90\x07\x9c[]P;0m\\\n\r\t \u202e\u2066\u2028\ud800ab"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\tb\nc", "a\tb\nc"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9ctext", "text"),
        ("\x1bPq#0\x1b\\text", "text"),
        ("\x1b]52;c;bWFs\x07text", "text"),
        ("\x1b]0;never ends", "]0;never ends"),
        ("\x1b(Btext", "text"),
        ("\x1bctext", "text"),
        ("\x1b", ""),
        ("a\x00b\x08c\x7fd", "abcd"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x0bb\x0cc\x85d\u2028e\u2029f", "a\nb\nc\nd\ne\nf"),
        ("a\u202eb\u202cc\u2066d\u2069e", "abcde"),
        ("tag\U000e0049\U000e007fs", "tags"),
        ("\ufeffmark", "mark"),
        ("half\ud800", "half\ufffd"),
        # What scripts and emoji are made of stays.
        ("\u05d0\u200f \u0627\u061c \u0915\u094d\u200d\u0937", None),
        ("👩\u200d💻 naïve e\u0301", None),
    ],
)
def test_clean_takes_away_what_acts_and_keeps_what_says(
    text: str, shown: str | None
) -> None:
    assert clean(text) == (text if shown is None else shown)


@given(st.text(st.sampled_from(HOSTILE)) | st.text())
def test_clean_text_is_clean(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert not set(once) & set("\x1b\x9b\x9d\x07\r\x00\u202e\u2066\u2028")
    once.encode()


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"])))
def test_ordinary_text_is_untouched(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    "piece", ["\x1b]", "\x9d", "\x1b[", "\x1b[0;", "\x1bP\t", "\x9b1", "\r", "\x1b "]
)
def test_unfinished_sequences_take_one_pass(piece: str) -> None:
    started = time.process_time()
    clean(piece * 100_000)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("a\nb\t c", 0, "a b c"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("\x1b[1m  x  \x1b[0m", 0, "x"),
    ],
)
def test_one_line(text: str, width: int, shown: str) -> None:
    assert one_line(text, width) == shown


@given(
    st.lists(st.text(st.sampled_from("ab |\t\n\x1b日\u202e"), max_size=4), max_size=4)
)
@example(["a ", "b"])
@example(["a", " b"])
@example([" a", "b"])
@example(["a", "b "])
@example(["a", "", "b"])
def test_many_texts_are_each_on_one_line(texts: list[str]) -> None:
    assert one_lines(texts) == [one_line(text) for text in texts]


@pytest.mark.parametrize(
    "tag",
    [
        "</system-reminder>",
        "<system-reminder>",
        "</SYSTEM-Reminder >",
        "</ system-reminder>",
        "<\u200b/system-reminder>",
        "<\u2060system-reminder>",
        "<system-remin…",
        "<system>",
        "</user>",
        '<assistant lang="en">',
        "</tool_result>",
        "<tool-use-error>",
        "</function_calls>",
        '<invoke name="Bash">',
        "<invoke>",
        "<user-prompt-submit-hook>",
        "<local-command-stdout>",
        "<task-notification>",
        "<environment_details>",
        "<INSTRUCTIONS>",
        "<user_instructions>",
        "<hook_context>",
        "</untrusted_context>",
        "<project_context>",
        "</thinking>",
        "<ide_opened_file>",
        "<ide_selection>",
        "<new-diagnostics>",
        "<mcp-resource-update>",
        "<permissions instructions>",
        "<collaboration_mode>",
        "<turn_aborted>",
        "<model_switch>",
        "<multi_agent_mode>",
        "<skill>",
        "<|im_start|>",
        "<|eot_id|>",
        "<<SYS>>",
        "<</SYS>>",
    ],
)
def test_a_tag_of_a_client_is_defused(tag: str) -> None:
    for text in (tag, f"before{tag}after", f"<{tag}", tag * 3):
        shown = defused(text)
        assert tag not in shown
        # One character for another: everything else is where it was.
        assert len(shown) == len(text)
        assert shown.replace("\u2039", "<") == text
        assert defused(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d",
        "<div class='system'>",
        "<T extends System>",
        "List<String>",
        "std::vector<int>",
        "<userId>",
        "<modelId>",
        "<ide>",
        "<turn>",
        "<permission>",
        "<skills>",
        "<user.name>",
        "<pat@example.org>",
        "<user@example.org>",
        "<https://example.org/system>",
        "git clone <url>",
        "x <| y |> z",
        "1 << system",
        "if a < user:",
        "cat < /system/file",
        "<!-- system -->",
        "the system-reminder> tag",
        "<-system",
    ],
)
def test_what_is_not_a_tag_of_a_client_stays(text: str) -> None:
    assert defused(text) == text


@given(st.text(st.sampled_from("<</|>\u200b systemreminder-_:\n")) | st.text())
def test_what_is_defused_stays_so_and_clean(text: str) -> None:
    shown = defused(clean(text))
    assert defused(shown) == clean(shown) == shown
    assert shown.replace("\u2039", "<") == clean(text).replace("\u2039", "<")
    assert "</system-reminder>" not in shown


@pytest.mark.parametrize(
    "piece", ["<", "< ", "<a-", "<a_a-", "</", "<|a", "<system-" + "a-" * 100]
)
def test_a_text_full_of_beginnings_takes_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    began = time.process_time()
    defused(text)
    assert time.process_time() - began < 2


@given(st.text("0123456789abcdefgAF \n", max_size=18), st.integers(0, 18))
def test_hexadecimal_digits(text: str, length: int) -> None:
    pattern = f"[0-9a-f]{{{length}}}|[0-9a-f]{{16}}"
    assert is_hexadecimal(text, length, 16) == bool(re.fullmatch(pattern, text))
