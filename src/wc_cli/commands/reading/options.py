"""The options of ``wc read`` and ``wc updates``, whose answers several modules make."""

from __future__ import annotations

from wc_cli.commands.common import LocalTopicOptions
from wc_cli.run.options import Options, flag, number, position, text
from wc_core.base.errors import InvalidInputError


class ReadOptions(LocalTopicOptions):
    """Show a thread, and mark it as read."""

    usual = "--from --limit --new --peek --summary-only --raw --history"

    start: int = position("--from", "Start with this entry; -10: the last ten.")
    limit: int = number("--limit", "At most this many entries (0: all).")
    newest: int = number("--last", "Only the last N entries.", short="-n")
    new: bool = flag("--new", help="Only entries that are new to you.")
    branch: str = text("--branch", "BRANCH", "Only entries written on this branch.")
    kind: str = text("--kind", "KIND", "Only entries of this kind.", complete="kind")
    peek: bool = flag("--peek", help="Do not mark it as read.")
    only_marks: bool = flag("--seen", help="Only mark it as read.")
    summary_only: bool = flag(
        "--summary-only", help="The summary of each entry instead of its text."
    )
    commits: bool = flag(
        "--commits", help="The commit of each entry instead of its text."
    )
    raw: bool = flag("--raw", help="Plain text as written, without a pager.")
    history: bool = flag(
        "--history", help="Include texts that were amended or retracted."
    )

    def start_at_last(self) -> None:
        """Replace ``--last N`` by ``--from -N``."""
        if self.newest and self.start:
            raise InvalidInputError(
                "--last and --from exclude each other.", "Use one of them."
            )
        self.start, self.newest = self.start or -self.newest, 0


class UpdatesOptions(Options):
    """Show what happened since a time."""

    bare = ("since",)

    since: str = text(
        "--since",
        "WHEN",
        "A time, an age (3h), a day (monday) or an entry's id.",
        default="24h",
    )
    limit: int = number("--limit", "At most this many (0: all).", short="-n")
    only_marks: bool = flag("--seen", help="Only mark every thread as read.")
    branch: str = text("--branch", "BRANCH", "Only entries written on this branch.")
