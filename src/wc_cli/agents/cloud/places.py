"""The places for which ``wc cloud`` has a file, and the file with what is known here
filled in."""

from __future__ import annotations

import os

from wc_core.base import extras
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config
from wc_core.ledger.git.remotes import anonymous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.repository import Repository

_FOLDER = os.path.dirname(os.path.realpath(__file__))
# What is filled in, if it is known.
_SOURCE = "git+https://github.com/OWNER/REPOSITORY@TAG"
_URL = "https://github.com/OWNER/REPOSITORY"
_SSH = r"(?:ssh://)?(?:[^@/\s]+@)?(?P<host>[^:/\s]+):(?:\d+/)?(?P<path>[^\s]+)"


class CloudPlace(NamedTuple):
    """A place: the ``word`` for it, its name, its ``file`` in this folder, where that
    goes, and what else has to be done."""

    word: str
    name: str
    file: str
    target: str
    steps: tuple[str, ...] = ()

    @property
    def template(self) -> str:
        """The file, with nothing filled in."""
        with open(f"{_FOLDER}/{self.file}", encoding="utf-8") as file:
            return file.read()


_COMMIT = "commit what it writes"

PLACES = (
    CloudPlace(
        "claude",
        "Claude Code in the cloud",
        "claude-setup.sh",
        "the setup script of the environment",
        (f"Run once, and {_COMMIT}: wc install --scope project claude",),
    ),
    CloudPlace(
        "codex",
        "Codex cloud",
        "codex-setup.sh",
        "the setup script of the environment",
        (f"Run once, and {_COMMIT}: wc install --scope project codex",),
    ),
    CloudPlace(
        "copilot",
        "Copilot coding agent",
        "copilot-setup-steps.yml",
        ".github/workflows/copilot-setup-steps.yml",
        ("Add a line to AGENTS.md: Run wc brief first, and answer with wc say.",),
    ),
    CloudPlace(
        "devcontainer",
        "a dev container or Codespaces",
        "devcontainer.json",
        ".devcontainer/devcontainer.json",
    ),
    CloudPlace(
        "actions",
        "GitHub Actions, to harvest",
        "watercooler-harvest.yml",
        ".github/workflows/watercooler-harvest.yml",
    ),
)


def find(word: str) -> CloudPlace | None:
    """The place that a word means; ``None`` if there is none."""
    return next((place for place in PLACES if place.word == word.casefold()), None)


def filled(
    place: CloudPlace, repository: Repository | None, env: Mapping[str, str]
) -> str:
    """The file of a place, with the address of this repository, and where wc was
    installed from, as far as that is an address that others can reach."""
    text = place.template
    if source := _installed_from():
        text = text.replace(_SOURCE, source)
    url = _public_url(config.get("remote.origin.url", repository, env))
    if url:
        text = re.sub(rf"(?m)^URL={re.escape(_URL)}$", f"URL={url}", text)
    return text


def _public_url(url: str) -> str:
    """The address of a remote with https and without credentials; empty for a folder of
    this machine."""
    if url.startswith(("https://", "http://")):
        return anonymous(url)
    match = re.fullmatch(_SSH, url) if not url.startswith(("/", ".", "file:")) else None
    return f"https://{match['host']}/{match['path']}" if match else ""


def _installed_from() -> str:
    """What pip can install this wc from: the address of its repository, if it came from
    one (PEP 610); otherwise empty."""
    fields = extras.origin()
    try:
        url, commit = fields["url"], fields["vcs_info"]["commit_id"]
    except (LookupError, TypeError):
        return ""
    return f"git+{anonymous(url)}@{commit}" if url.startswith("https://") else ""
