"""Registries: files that most changes add a line to, so that they conflict most often
and are resolved most easily."""

from __future__ import annotations

import os

from wc_core.base.lean import re

_BOTH = "keep the lines of both sides"
_LOCKS = {
    "package-lock.json": "npm install",
    "npm-shrinkwrap.json": "npm install",
    "yarn.lock": "yarn install",
    "pnpm-lock.yaml": "pnpm install",
    "bun.lock": "bun install",
    "deno.lock": "deno install",
    "poetry.lock": "poetry lock",
    "uv.lock": "uv lock",
    "pdm.lock": "pdm lock",
    "Pipfile.lock": "pipenv lock",
    "Cargo.lock": "cargo check",
    "Gemfile.lock": "bundle install",
    "composer.lock": "composer update --lock",
    "go.sum": "go mod tidy",
    "mix.lock": "mix deps.get",
    "flake.lock": "nix flake lock",
    "Podfile.lock": "pod install",
    "pubspec.lock": "dart pub get",
    "gradle.lockfile": "gradle dependencies --write-locks",
}
_CHANGELOG = re.compile(r"(?:changelog|changes|history|news|releases)(?:\.\w{1,8})?")
# Lists of modules: each new one is a line in them.
_LISTS = frozenset(
    {"mod.rs", "CODEOWNERS", ".gitignore", ".gitattributes", "CONTRIBUTORS"}
    | {"CONTRIBUTORS.md", "AUTHORS", "AUTHORS.md", "go.work"}
)
_REQUIREMENTS_LOCK = re.compile(r"requirements[\w.-]{0,40}\.lock")


def hint(path: str) -> str:
    """How a conflict in a registry is resolved; empty for any other file."""
    name = os.path.basename(path)
    if name in _LOCKS:
        return f"take either side, then run: {_LOCKS[name]}"
    if _REQUIREMENTS_LOCK.fullmatch(name):
        return "take either side, then make the lock file again"
    if name in _LISTS or _CHANGELOG.fullmatch(name.lower()):
        return _BOTH
    return ""
