"""The optional parts of this installation, where it came from, and the command that
adds a part."""

from __future__ import annotations

import os
import sys

from wc_core.base.lean import json
from wc_core.base.phrases import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PACKAGE = "wc-watercooler"
_FILE = "file://"


def origin() -> dict[str, Any]:
    """Where pip installed this wc from (PEP 610); empty if that was an index, or is not
    known."""
    from importlib import metadata  # 20 ms, seldom

    try:
        text = metadata.distribution(PACKAGE).read_text("direct_url.json")
        fields = json.loads(text or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return {}
    return fields if isinstance(fields, dict) else {}


def adding(
    extra: str,
    *,
    prefix: str = sys.prefix,
    python: str = sys.executable,
    source: Mapping[str, Any] | None = None,
) -> str:
    """Return the command that adds an extra, such as ``graph``, to the installation
    with this ``prefix``: that of a checkout, of uv, of pipx or of pip. ``source`` is
    its `origin`."""
    source = origin() if source is None else source
    url = str(source.get("url", ""))
    package = f"{PACKAGE}[{extra}]"
    if "vcs_info" in source:
        package += f" @ git+{url}"
    elif url.startswith(_FILE) and "dir_info" in source:
        from urllib.parse import unquote  # 5 ms, seldom

        package = f"{unquote(url.removeprefix(_FILE))}[{extra}]"
    package = quoted(package)
    bootstrap = f"{os.path.dirname(prefix)}/bin/bootstrap"
    if os.path.isfile(bootstrap):
        return f"{quoted(bootstrap)} --dev"
    parts = prefix.split(os.sep)
    if "uv" in parts and "tools" in parts:
        return f"uv tool install {package}"
    if "pipx" in parts:
        return f"pipx install --force {package}"
    return f"{quoted(python)} -m pip install {package}"
