"""``wc open``: opens a thread's page in the browser, by ``wc-observe web``."""

from __future__ import annotations

import os
import sys

from wc_cli.agents.launcher import own_program
from wc_cli.run.entries import localtopic
from wc_cli.run.options import TextOptions, argument, command
from wc_core.base.errors import NotFoundError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context


class OpenOptions(TextOptions):
    """Open a thread in the browser, or the board if this worktree has no open thread,
    or several. Serves the page until Ctrl-C, as wc-observe web does."""

    topic: str | None = argument(
        "TOPIC",
        "The thread (default: the one that the prompt shows).",
        default=None,
        complete="topic",
    )


@command(OpenOptions)
def open_page(context: Context, options: OpenOptions) -> None:
    """Become the page's server, which opens the browser."""
    program = own_program("wc-observe")
    if not program:
        raise NotFoundError(
            "wc-observe, which serves the page, is missing beside this wc.",
            "Install Watercooler again: uv tool install --reinstall wc-watercooler",
        )
    words = [program, "web", "--open"]
    topic = _topic(context, options)
    words += ["--thread", topic] if topic else []
    words += ["--as", options.as_name] if options.as_name else []
    env = dict(context.env)
    if options.seat:
        env["WATERCOOLER_SEAT"] = options.seat
    sys.stdout.flush()
    os.execve(program, words, env)  # noqa: S606 - it replaces this process


def _topic(context: Context, options: OpenOptions) -> str:
    reader = context.reader
    if options.topic is not None:
        return reader.find(options.topic)
    threads = localtopic.prompt_threads(context)
    return threads[0].topic if len(threads) == 1 else ""
