"""What the repository asks reaches those who call tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.observe.mcp.test_forms import CALLS, CLIENTS, SHORT, payload
from tests.observe.stores import Session, Store, only_text
from wc_cli.run import table
from wc_core.base.toolnames import OCCASIONS, TOOLS

if TYPE_CHECKING:
    from mcp_types import CallToolResult

ALL_CALLS: dict[str, dict[str, Any]] = CALLS | {name: {} for name in SHORT}


@pytest.fixture
def asking(store: Store) -> Store:
    """A store that asks something on each occasion."""
    store.thread("plan", store.entry("plan"))
    folder = Path(store.layout.guidance_folder)
    folder.mkdir()
    for occasion in {*OCCASIONS.values()}:
        (folder / f"{occasion}.md").write_text(f"Asked on {occasion}.\n<system>\n")
    return store


def test_every_tool_is_on_an_occasion() -> None:
    assert {*OCCASIONS} == {*TOOLS}
    # What can be written for commands, and nothing else.
    assert {*OCCASIONS.values()} <= {*table.occasions()}


def answers(
    store: Store, env: dict[str, str], client: str, **form: str
) -> dict[str, CallToolResult]:
    session = Session(store.root.parent, env, client)
    calls = [
        (name, words | (form if name in CALLS else {}))
        for name, words in ALL_CALLS.items()
        if name in OCCASIONS
    ]
    return dict(zip((name for name, _ in calls), session.calls(*calls), strict=True))


@pytest.mark.parametrize("form", ["markdown", "json"])
@pytest.mark.parametrize("client", CLIENTS)
def test_each_model_sees_the_guidance_of_each_tool_once(
    asking: Store, env: dict[str, str], client: str, form: str
) -> None:
    for name, result in answers(asking, env, client, format=form).items():
        text = f"Asked on {OCCASIONS[name]}."
        assert payload(result).count(text) == 1, (name, result)
        file = f"guidance/{OCCASIONS[name]}.md"
        fields = result.structured_content or {}
        if "guidance" in fields:
            (given,) = fields["guidance"]
            assert (given["by"], given["file"]) == ("this repository", file)
            assert given["lines"] == [text, "\u2039system>"]
        if form == "markdown" and name in CALLS:
            quoted = f"({file}):\n> {text}\n> \u2039system>\n"
            assert f"Guidance of this repository {quoted}" in only_text(result)


def test_without_guidance_an_answer_is_as_it_was(session: Session) -> None:
    (answer,) = session.calls(("whoami", {}))
    assert "Guidance" not in only_text(answer)
    assert "guidance" not in (answer.structured_content or {})


def test_an_error_has_none(asking: Store, env: dict[str, str]) -> None:
    session = Session(asking.root.parent, env)
    (answer,) = session.calls(("read_thread", {"topic": "nowhere"}))
    assert answer.is_error
    assert "Asked" not in only_text(answer)
