"""``wc brief``: what waits for the viewer, at the start of a session."""

from __future__ import annotations

from wc_cli.briefing.gather import deadline, gather_brief
from wc_cli.commands.common import SpeakerOptions
from wc_cli.options import command, number, text
from wc_cli.output import say, say_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.context import Context

BUDGET = 1500


class BriefOptions(SpeakerOptions):
    """Show what waits for you: your balls, free ones, new entries."""

    budget: int = number(
        "--budget", "At most about this many tokens (4 bytes each).", default=BUDGET
    )
    hook: str = text(
        "--hook", "EVENT", "Answer a hook, such as session-start or before-tool."
    )
    client: str = text("--client", "NAME", "With --hook: the client.")


@command(BriefOptions)
def brief(context: Context, options: BriefOptions) -> None:
    """Show what waits."""
    if options.hook:
        from wc_cli.briefing import hook  # 3 ms, only for hooks

        hook.answer_hook(context, options)
        return
    from wc_cli.briefing import text as brief_rendering  # 13 ms, not for hooks
    from wc_cli.terminal import render

    context.adopt()  # done once, so it does not count as the brief's time
    gathered = gather_brief(context, deadline(context))
    fitting = brief_rendering.fit_brief(gathered, options.budget)
    if options.json:
        say_json(fitting.to_json(context.store))
        return
    say(brief_rendering.brief_text(fitting, render.output_style(context.env)))
