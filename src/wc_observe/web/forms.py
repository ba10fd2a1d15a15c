"""The parts of the filter forms, and the values they submit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.errors import InvalidInputError
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import KINDS, SEVERITIES, STATUSES
from wc_observe.web.html import Html, element

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def field(name: str, words: str, value: str, hint: str = "") -> Html:
    """Returns a labelled text field."""
    return element(
        "label",
        words,
        " ",
        element(
            "input",
            name=name,
            id=name,
            value=value,
            placeholder=hint,
            autocomplete="off",
        ),
    )


def search_field(value: str, hint: str, name: str, **attributes: str) -> Html:
    """Returns a field for words to search or to filter by."""
    return element(
        "input",
        type="search",
        name=name,
        value=value,
        placeholder=hint,
        autocomplete="off",
        **attributes,
    )


def choice(
    name: str, words: str, options: Iterable[tuple[str, str]], chosen: str
) -> Html:
    """Returns a labelled drop-down list."""
    items = (
        element("option", label, value=value, selected=value == chosen)
        for value, label in options
    )
    return element("label", words, " ", element("select", *items, name=name))


def status_choice(query: Mapping[str, str]) -> Html:
    """Returns the drop-down list of statuses."""
    options = [
        ("", "any status"),
        *((status, status.replace("_", " ").lower()) for status in STATUSES),
    ]
    return choice("status", "Status", options, query.get("status", "").upper())


def kind_choice(query: Mapping[str, str]) -> Html:
    """Returns the drop-down list of kinds."""
    options = [("", "any kind"), *((kind, kind) for kind in KINDS)]
    return choice("kind", "Kind", options, query.get("kind", "").lower())


def severity_choice(query: Mapping[str, str]) -> Html:
    """Returns the drop-down list of minimum severities."""
    options = [("", "any"), *((level, f"{level} or more") for level in SEVERITIES)]
    return choice("severity", "Severity", options, query.get("severity", "").lower())


def chosen_status(query: Mapping[str, str]) -> str:
    """Returns the requested status, or an empty string. Raises InvalidInputError for an
    unknown one."""
    status = query.get("status", "").upper()
    if status and status not in STATUSES:
        raise InvalidInputError(
            f"{one_line(status, 40)!r} is not a status.",
            f"There are: {', '.join(STATUSES)}",
        )
    return status


def filter_form(fields: Iterable[Html], count: Html, action: str) -> Html:
    """Returns a form that filters the list below it. On a narrow screen a button opens
    its fields; the script submits it as the user types."""
    button = element(
        "button", "Filter", type="button", popovertarget="fields", class_="opens"
    )
    inside = element("div", *fields, id="fields", class_="fields", popover="auto")
    return element("form", button, inside, count, action=action, class_="filter")
