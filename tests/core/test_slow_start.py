"""Which variables make the server's clients wait while it starts."""

from __future__ import annotations

import os

import pytest

from wc_core.ledger.slowstart import slow_start


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({}, ""),
        ({"PATH": "/bin", "FASTMCP_LOG_LEVEL": "x"}, ""),
        ({"FASTMCP_ENV_FILE": os.devnull}, ""),
        ({"FASTMCP_ENV_FILE": ".env"}, "FASTMCP_ENV_FILE"),
        ({"fastmcp_mask_error_details": "true"}, "fastmcp_mask_error_details"),
    ],
)
def test_a_variable_that_makes_clients_wait(env: dict[str, str], name: str) -> None:
    assert slow_start(env) == name
