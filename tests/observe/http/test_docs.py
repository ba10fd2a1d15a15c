"""The snippets of docs/observe.md, as far as they can be tried here."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_observe.http import options as httpoptions

if TYPE_CHECKING:
    import argparse

PAGE = (Path(__file__).parents[3] / "docs/observe.md").read_text(encoding="utf-8")
PAGE = PAGE.partition("\n## Over HTTP\n")[2]
INSTRUCTIONS = {
    *("FROM", "COPY", "RUN", "USER", "ENV", "WORKDIR", "EXPOSE", "HEALTHCHECK"),
    "ENTRYPOINT",
}


def block(language: str) -> str:
    (found,) = re.findall(
        rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
    )
    return str(found)


def said(words: list[str]) -> argparse.Namespace:
    return httpoptions.parser().parse_args(words)


def test_systemd_takes_the_unit_as_it_stands(tmp_path: Path) -> None:
    unit = block("ini")
    words = shlex.split(re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)[0])
    assert said(words[1:]).auth == ["token"]
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed: the unit is not verified")
    file = tmp_path / "watercooler.service"
    file.write_text(unit.replace(words[0], "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(file)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_container_runs_as_nobody_in_particular() -> None:
    lines = block("dockerfile").replace("\\\n", " ").splitlines()
    parts = [line.partition(" ") for line in lines]
    assert {one[0] for one in parts} <= INSTRUCTIONS
    told = {name: words for name, _, words in parts}
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", told["USER"])
    program, *words = json.loads(told["ENTRYPOINT"])
    assert program == "wc-observe"
    (run,) = (one for one in PAGE.splitlines() if one.startswith("podman run "))
    _, _, rest = run.partition(" wc-observe ")
    options = said([*words, *shlex.split(rest)])
    assert (options.host, options.auth) == ("0.0.0.0", ["token"])
    assert told["EXPOSE"] == str(options.port)
    probe = json.loads(told["HEALTHCHECK"].removeprefix("CMD "))[-1]
    compile(probe, "probe", "exec")


def test_the_other_snippets_can_be_read() -> None:
    server = json.loads(block("json"))["mcpServers"]["watercooler"]
    assert server["url"].endswith("/stores/team/mcp")
    address = f"127.0.0.1:{httpoptions.PORT}"
    assert f'targets: ["{address}"]' in block("yaml")
    assert f"proxy_pass http://{address};" in block("nginx")
    assert f" {address}\n" in block("caddyfile")
