"""The targets of notifications, as a person writes them into ``notify.targets``.

``desktop``, ``osc``, ``bell`` and ``tmux`` reach the person's own machine.
``ntfy:URL``, ``slack:URL`` and ``json:URL`` are webhooks. A URL may contain a secret,
so messages use the target's label, which has only the host.
"""

from __future__ import annotations

from wc_core.base.lean import re
from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration.keys import ValueOfKeyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

DESKTOP, OSC, BELL, TMUX = "desktop", "osc", "bell", "tmux"
NTFY, SLACK, JSON = "ntfy", "slack", "json"
LOCAL = (DESKTOP, OSC, BELL, TMUX)
WEBHOOKS = (NTFY, SLACK, JSON)

_PORTS = {"http": 80, "https": 443}
# The same as in ntfy's server.
_NTFY_TOPIC = r"[-_A-Za-z0-9]{1,64}"
_DIGEST_LENGTH = 12


class Target(NamedTuple):
    """A target: its kind, and the URL of a webhook with its host."""

    kind: str
    url: str = ""
    host: str = ""

    @property
    def label(self) -> str:
        """Its name for display, without the rest of the URL."""
        return f"{self.kind}:{self.host}" if self.url else self.kind

    @property
    def is_webhook(self) -> bool:
        """Whether its messages leave the machine."""
        return self.kind in WEBHOOKS

    @property
    def id(self) -> str:
        """A name for files that does not contain the URL."""
        if not self.url:
            return self.kind
        from hashlib import sha256  # 2.7 ms, only for those who have webhooks

        return f"{self.kind}-{sha256(self.url.encode()).hexdigest()[:_DIGEST_LENGTH]}"


def parse(text: str) -> Target:
    """The target for a text. Raises ValueOfKeyError."""
    kind, colon, url = text.strip().partition(":")
    if kind in LOCAL and not colon:
        return Target(kind)
    if kind not in WEBHOOKS:
        kinds = ", ".join([*LOCAL, *(f"{name}:URL" for name in WEBHOOKS)])
        raise ValueOfKeyError(f"{_shown(text)!r} is not a target; there are: {kinds}")
    return Target(kind, url, _checked_host(kind, url))


def _checked_host(kind: str, url: str) -> str:
    """The host of a webhook, with its port if it has one. Raises ValueOfKeyError, whose
    message does not contain the URL."""
    from urllib.parse import urlsplit  # 5 ms, only for those who have webhooks

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    is_plain = url.isascii() and url.isprintable() and " " not in url
    if not host or not is_plain or parts.scheme not in _PORTS:
        raise ValueOfKeyError(f"the URL of a target {kind!r} is not http(s)://HOST/…")
    if kind == NTFY and not re.fullmatch(_NTFY_TOPIC, parts.path.rpartition("/")[2]):
        raise ValueOfKeyError(
            "the URL of a target 'ntfy' does not end in a topic, as "
            "https://ntfy.sh/my-topic"
        )
    return f"{host}:{port}" if port else host


def shown(text: str) -> str:
    """A target's text for display, because it may contain a URL."""
    try:
        target = parse(text)
    except ValueOfKeyError:
        return _shown(text)
    return f"{target.label}/…" if target.url else target.label


def _shown(text: str) -> str:
    head, *tail = re.split(r"([:/])", text, maxsplit=1)
    return f"{head}{tail[0]}…" if tail else head


class TargetList(NamedTuple):
    """The targets of a person, without repetition, and the problems of invalid
    texts."""

    targets: tuple[Target, ...] = ()
    problems: tuple[str, ...] = ()


def parse_all(texts: Iterable[str]) -> TargetList:
    """The targets for these texts."""
    targets: dict[Target, None] = {}
    problems = []
    for text in texts:
        try:
            targets[parse(text)] = None
        except ValueOfKeyError as error:
            problems.append(str(error))
    return TargetList(tuple(targets), tuple(problems))


def matching(targets: Iterable[Target], word: str) -> list[Target]:
    """The targets selected on the command line: all for an empty word, otherwise those
    with this kind, label, or text."""
    return [
        target
        for target in targets
        if word in {"", target.kind, target.label, f"{target.kind}:{target.url}"}
    ]
