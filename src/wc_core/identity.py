"""Who is asking: the rule that makes a `Name` of options, environment, git.

- agent: ``--as``, ``WATERCOOLER_AGENT``, the agent we run inside, a person
- tag: in the name, ``WATERCOOLER_USER``, git's user, the OS user
- seat: ``--seat``, ``WATERCOOLER_SEAT``, in a linked worktree its change id
  or branch, in the main worktree and in the store's own checkout none

A person has neither tag nor seat of their own: they are the same one in all
of their worktrees.
"""

from __future__ import annotations

from typing import NamedTuple

from wc_core import gitconfig, names
from wc_core.errors import InvalidInputError
from wc_core.layout import BRANCH
from wc_core.names import FREE_WORDS, MAX_NAME_BYTES, Name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.repository import Repository
    from wc_core.settings import Settings

# What each agent sets in the environment of the commands it runs.
AGENT_VARIABLES: tuple[tuple[str, str], ...] = (
    ("CLAUDECODE", "Claude Code"),
    ("CODEX_THREAD_ID", "Codex"),
    ("CODEX_SANDBOX", "Codex"),
    ("CURSOR_AGENT", "Cursor"),
    ("GEMINI_CLI", "Gemini CLI"),
    ("OPENCODE", "opencode"),
)


class Asked(NamedTuple):
    """What was said about identity on the command line or by a client."""

    name: str = ""
    seat: str = ""
    client: str = ""


class Identity(NamedTuple):
    """A participant, and which rule named them (for ``wc whoami``).

    ``branch`` is the one that was checked out, or empty, where the seat would
    be another with another branch; else ``None``.
    """

    name: Name
    source: str
    person: bool = False
    branch: str | None = None

    @property
    def author(self) -> str:
        """The name as entries carry it."""
        return str(self.name)


def identify(
    asked: Asked,
    env: Mapping[str, str],
    repository: Repository | None,
    settings: Settings,
) -> Identity:
    """The participant that speaks.

    Raises InvalidInputError for a name with line breaks, control characters
    or too long, for one that means nobody in particular, and where nothing at
    all names anybody.
    """
    git_user = gitconfig.get("user.name", repository, env).strip()
    os_user = env.get("USER") or env.get("LOGNAME") or ""
    user = env.get("WATERCOOLER_USER", "").strip() or git_user or os_user
    person = names.parse(user).agent
    spoken, source = _agent(asked, env)
    if not spoken:
        if not user:
            raise InvalidInputError(
                "Nothing says who you are.",
                "Say it with --as NAME, WATERCOOLER_AGENT or git config user.name.",
            )
        rule = "git user" if git_user and user == git_user else "user"
        return Identity(_somebody(Name(checked(person))), rule, person=True)
    name = _somebody(settings.directory.canonical(names.parse(checked(spoken))))
    if not name.tag and names.fold(name.agent) == names.fold(person):
        return Identity(name, source, person=True)
    tag = name.tag or _unbracketed(checked(user))
    branch = None
    seat = name.seat or _said_seat(asked, env)
    if not seat and settings.seats and repository is not None:
        seat, branch = _seat_of(repository)
    seat = name.seat or _unbracketed(seat)
    full = Name(name.agent, seat, tag)
    if names.parse(str(full)) != full:
        raise InvalidInputError(
            f"{spoken!r} cannot be a name.", "Write it as: Agent@seat (tag)"
        )
    return Identity(full, source, branch=branch)


def _somebody(name: Name) -> Name:
    """``name``, which must not be a word for whoever asks or for nobody."""
    if names.fold(name.agent) in FREE_WORDS | {"me"}:
        raise InvalidInputError(
            f"{name.agent!r} cannot be anybody's own name: a ball at it would be "
            "nobody's or everybody's.",
            "Say who you are with --as NAME, WATERCOOLER_AGENT or WATERCOOLER_USER, "
            "such as: Codex",
        )
    return name


def _unbracketed(text: str) -> str:
    """A seat or tag of somebody else's making, fit to be read back: of
    ``Codex@fix(ui)`` and ``Codex (Pat (Acme))`` the brackets would not be."""
    return " ".join(text.replace("(", " ").replace(")", " ").split())


def _agent(asked: Asked, env: Mapping[str, str]) -> tuple[str, str]:
    """The words that name an agent and where they came from; none for a person."""
    if asked.name.strip():
        return asked.name, "--as"
    if env.get("WATERCOOLER_AGENT", "").strip():
        return env["WATERCOOLER_AGENT"], "WATERCOOLER_AGENT"
    for variable, agent in AGENT_VARIABLES:
        if env.get(variable):
            return agent, variable
    return asked.client, "client" if asked.client else ""


def _said_seat(asked: Asked, env: Mapping[str, str]) -> str:
    spoken = asked.seat.strip() or env.get("WATERCOOLER_SEAT", "").strip()
    return checked(spoken) if spoken else ""


def _seat_of(repository: Repository) -> tuple[str, str | None]:
    """The seat in this worktree, and the `Identity.branch` it depends on.

    The store's own checkout is nobody's seat: its branch is the same for all.
    """
    branch = repository.branch
    if not repository.linked or branch == BRANCH:
        return "", None
    change = repository.change_id
    if change and _is_fit(change):
        return change, None
    found = (branch, repository.worktree_id)
    return next((one for one in found if one and _is_fit(one)), ""), branch


def checked(text: str) -> str:
    """A name, or part of one, fit to stand on one line.

    Raises InvalidInputError otherwise.
    """
    clean = text.strip()
    if _is_fit(clean):
        return clean
    if not clean.isprintable():
        raise InvalidInputError(
            f"{text!r} cannot be a name: it has characters that do not print.",
            "Use one line of ordinary characters, such as: Codex@fix (pat)",
        )
    raise InvalidInputError(
        f"The name {clean[:40]}… is longer than {MAX_NAME_BYTES} bytes.",
        "Use a shorter one.",
    )


def _is_fit(text: str) -> bool:
    return text.isprintable() and len(text.encode()) <= MAX_NAME_BYTES
