"""``wc publish``: push a branch, but only if its author still has all of their
claims."""

from __future__ import annotations

from wc_cli.commands.edits.claims import ChangeOptions, holding_of
from wc_cli.commands.edits.targets import repository_of
from wc_cli.edits.claims import publishing
from wc_cli.edits.claims.publishing import Publication
from wc_cli.run.options import argument, command
from wc_cli.run.output import say, say_json
from wc_core.base.errors import InvalidInputError
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.ledger.git import config, remotes
from wc_core.ledger.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.ledger.git.repository import Repository


class PublishOptions(ChangeOptions):
    """Push this branch together with your claims. If you have lost one of them,
    nothing is pushed."""

    remote: str = argument(
        "REMOTE", "The remote (default: that of the upstream branch).", default=""
    )
    branch: str = argument(
        "BRANCH", "The branch there (default: the upstream branch).", default=""
    )


@command(PublishOptions)
def publish(context: Context, options: PublishOptions) -> None:
    """Push a branch and the claims."""
    repository = repository_of(context)
    publication = _publication(context, repository, options)
    result = publishing.publish(holding_of(context, options), publication)
    label, branch = publication.remote.label, publication.branch
    if options.json:
        fields = {"remote": label, "branch": branch, "commit": publication.commit}
        say_json(
            {**fields, "claims": list(result.claims), "fenced": not result.weakness}
        )
        return
    how = f" · advisory: {result.weakness}" if result.weakness else ""
    count = f" · {len(result.claims)} claimed" if result.claims else ""
    text = f"published {publication.commit[:12]} as {branch} at {label}{count}{how}"
    say(one_line(text))


def _publication(
    context: Context, repository: Repository, options: PublishOptions
) -> Publication:
    """Where the current branch is pushed. Raises InvalidInputError if that is not
    clear."""
    env, current = context.env, repository.branch
    names = remotes.names(repository, env)
    name = options.remote or config.get(f"branch.{current}.remote", repository, env)
    if not name:
        name = "origin" if "origin" in names else "".join(names[:1] * (len(names) == 1))
    branch = options.branch.removeprefix("refs/heads/")
    if not branch:
        upstream = config.get(f"branch.{current}.merge", repository, env)
        branch = upstream.removeprefix("refs/heads/") or current
    if not repository.commit:
        raise InvalidInputError(
            "There is no commit to publish.", "Commit first: git commit"
        )
    if not names and not options.remote:
        raise InvalidInputError(
            "There is no remote to publish to.", "Add one: git remote add origin URL"
        )
    if not name or not branch:
        noun = "no branch" if name else "no single remote"
        command = f"wc publish {quoted(name or names[0])} {quoted(branch or 'main')}"
        raise InvalidInputError(
            f"There is {noun} to publish to.", f"Name both: {command}"
        )
    remote = remotes.by_name(repository, env, name)
    return Publication(remote, vocabulary.branch(branch), repository.commit)
