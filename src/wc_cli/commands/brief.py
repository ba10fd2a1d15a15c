"""``wc brief``: what waits for the viewer, at the start of a session."""

from __future__ import annotations

from wc_cli.agents.briefing.gather import deadline, gather_brief
from wc_cli.run.options import Options, command, text
from wc_cli.run.output import say, say_json
from wc_cli.run.terminal.style import is_terminal, output_style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context


class BriefOptions(Options):
    """Show what waits for you: your balls, free ones, new entries. At a person's
    terminal, it is the inbox of this repository."""

    hook: str = text(
        "--hook", "EVENT", "Answer a hook, such as session-start or before-tool."
    )
    client: str = text("--client", "NAME", "With --hook: the client.")


@command(BriefOptions)
def brief(context: Context, options: BriefOptions) -> None:
    """Show what waits."""
    if options.hook:
        from wc_cli.agents.briefing import hook  # 3 ms, only for hooks

        hook.answer_hook(context, options)
        return
    context.first_contact()
    context.adopt()  # done once, so it does not count as the brief's time
    if _is_for_person(context, options):
        from wc_cli.commands.repository.inbox import print_own_inbox  # 5 ms

        print_own_inbox(context)
        return
    from wc_cli.agents.briefing import text  # 13 ms, not for hooks

    fitted = text.fit_brief(gather_brief(context, deadline()))
    if options.json:
        say_json(fitted.to_json(context.store))
    else:
        say(text.brief_text(fitted, output_style(context.env)))


def _is_for_person(context: Context, options: BriefOptions) -> bool:
    """Return whether a person reads it at a terminal."""
    return is_terminal() and context.identity.person and not options.json
