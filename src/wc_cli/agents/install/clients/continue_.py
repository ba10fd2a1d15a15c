"""Continue in an editor. Its program for the terminal, `cn`, reads only config.yaml.

Sources: docs.continue.dev (customize/deep-dives/mcp), and continuedev/continue, core:
config/yaml/loadYaml.ts, config/markdown/loadMarkdownSkills.ts.
"""

from __future__ import annotations

import json

from wc_cli.agents.install import disk
from wc_cli.agents.install.changes import USER_AND_PROJECT, Client, OwnFile, Part
from wc_cli.agents.install.clients import common
from wc_core.base.errors import WcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from wc_cli.agents.install.changes import InstallSite

_NOTE = "Continue: reload the window of your editor."

# A file of our own beside config.yaml, whose comments and order stay as they are.
_SERVER = """\
# Written by `wc install continue`; `wc uninstall continue` removes it.
name: Watercooler
version: 0.0.1
schema: v1
mcpServers:
  - name: watercooler
    command: PROGRAM
"""


def _parts(site: InstallSite) -> tuple[Part, ...]:
    folder = common.base_folder(site) / ".continue"
    skill = common.skill(folder / "skills")
    if site.scope == "user" and _is_connected_by_hand(folder / "config.yaml"):
        return (skill,)
    program = json.dumps(common.server_program(site))
    text = _SERVER.replace("PROGRAM", program)
    server = OwnFile(folder / "mcpServers/watercooler.yaml", text)
    return (Part("server", (server,), (_NOTE,)), skill)


def _is_connected_by_hand(config: Path) -> bool:
    """Whether a settings file that people write has our server."""
    try:
        data = disk.read(str(config)) or b""
    except WcError:
        return False
    lines = data.decode(errors="replace").splitlines()
    return any(common.PROGRAM in line.partition("#")[0] for line in lines)


CLIENT = Client(
    "continue",
    lambda site: common.is_present(site, (), ".continue"),
    USER_AND_PROJECT,
    _parts,
)
