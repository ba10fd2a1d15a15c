"""The optional parts of this installation, and the command that adds one."""

from __future__ import annotations

import os
import sys

from wc_core.base.phrases import quoted


def adding(
    extra: str, *, prefix: str = sys.prefix, python: str = sys.executable
) -> str:
    """Return the command that adds an extra, such as ``graph``, to the installation
    with this ``prefix``: that of a checkout, of uv, of pipx or of pip."""
    package = quoted(f"wc-watercooler[{extra}]")
    bootstrap = f"{os.path.dirname(prefix)}/bin/bootstrap"
    if os.path.isfile(bootstrap):
        return f"{quoted(bootstrap)} --dev"
    parts = prefix.split(os.sep)
    if "uv" in parts and "tools" in parts:
        return f"uv tool install {package}"
    if "pipx" in parts:
        return f"pipx install --force {package}"
    return f"{quoted(python)} -m pip install {package}"
