"""Other people's MCP clients, each against the real command and a real store."""

import pytest

pytest.register_assert_rewrite("tests.clients.asking")
