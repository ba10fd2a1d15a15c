"""The address of a graph, and the ids of repositories."""

from __future__ import annotations

import pytest

from wc_core.base.errors import InvalidInputError
from wc_core.reading.graphdb.address import GraphAddress, client_options, parse
from wc_core.reading.graphdb.identity import repository_id
from wc_core.reading.graphdb.nodes import storable

LOGIN = {"WATERCOOLER_GRAPH_USER": "pat", "WATERCOOLER_GRAPH_PASSWORD": "pw"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("falkordb://h/g", GraphAddress("g", "h")),
        ("redis://h:7/g", GraphAddress("g", "h", 7)),
        ("falkordbs://h/g", GraphAddress("g", "h", tls=True)),
        ("rediss://[::1]:7/g", GraphAddress("g", "::1", 7, tls=True)),
        (
            "falkordb://u%40x:p%2Fw@h/g",
            GraphAddress("g", "h", username="u@x", password="p/w"),
        ),
        ("unix:///run/a%20b?graph=g", GraphAddress("g", socket="/run/a b")),
    ],
)
def test_each_form_of_an_address(text: str, expected: GraphAddress) -> None:
    assert parse(text, {}) == expected
    label = expected._replace(username="", password="").label
    assert parse(label.replace("a b", "a%20b"), {}) == expected._replace(
        username="", password=""
    )


def test_the_login_may_be_in_the_environment() -> None:
    assert parse("falkordb://h/g", LOGIN)[-2:] == ("pat", "pw")
    assert parse("falkordb://u:p@h/g", LOGIN)[-2:] == ("u", "p")


@pytest.mark.parametrize(
    "text",
    [
        *("", "h/g", "http://h/g", "falkordb://h", "falkordb:///g", "falkordb://h:x/g"),
        *("unix://?graph=g", "unix:///run/s", "falkordb://h/a b", "falkordb://h/a/b"),
    ],
)
def test_what_is_no_address_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        parse(text.replace("://", "://u:secret@", 1), {})
    assert "secret" not in refused.value.message + refused.value.hint


def test_tls_checks_the_name_of_the_server() -> None:
    options = client_options(parse("falkordbs://h/g", {}), 3)
    assert (options["ssl"], options["ssl_check_hostname"]) == (True, True)
    assert "ssl" not in client_options(parse("falkordb://h/g", {}), 3)


@pytest.mark.parametrize(
    ("remote", "expected"),
    [
        ("https://pat:pw@GitHub.com/acme/app.git", "github.com/acme/app"),
        ("ssh://git@github.com:22/acme/app.git/", "github.com/acme/app"),
        ("git@github.com:acme/app.git", "github.com/acme/app"),
        ("host:/srv/app.git", "host/srv/app"),
        *(("/srv/app.git", ""), ("../app", ""), ("file:///srv/app", ""), ("", "")),
    ],
)
def test_a_repository_has_one_id_however_it_is_reached(
    remote: str, expected: str
) -> None:
    assert repository_id(remote) == expected


def test_a_graph_stores_neither_nul_nor_half_characters() -> None:
    assert storable("a\0b\ud800é") == "a\ufffdb?é"
