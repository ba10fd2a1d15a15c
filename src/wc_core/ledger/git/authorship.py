"""The author and the committer that git would use for a commit, without running git.

The variables, keys and their order are those of git-commit(1). Git's last resort, a
guess from the system user and the name of the machine, is left out: it differs from
machine to machine, and git refuses it if a machine has no full name.
"""

from __future__ import annotations

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.repository import Repository

# git-commit(1) removes these from the ends of a name, and refuses one with no other
# characters.
_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
_CONTROL = dict.fromkeys((*range(32), 127))
# These end a name or an address in a commit.
_FORBIDDEN = _CONTROL | dict.fromkeys(map(ord, "<>"))
# The values of gpg.format: with any other value git makes no commit.
FORMATS = ("openpgp", "x509", "ssh")
_KEYS = (
    *("author.name", "author.email", "committer.name", "committer.email"),
    *("user.name", "user.email", "user.signingkey", "gpg.format"),
)


class Person(NamedTuple):
    """A name and an address, as a commit has them; empty if they are unknown."""

    name: str = ""
    email: str = ""

    @property
    def complete(self) -> bool:
        """Whether both are known."""
        return bool(self.name and self.email)

    def or_else(self, fallback: Person) -> Person:
        """The person, with unknown parts from ``fallback``."""
        return Person(self.name or fallback.name, self.email or fallback.email)

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


class Authorship(NamedTuple):
    """The author and the committer of a commit. ``key`` signs it, if commits are
    signed, in the ``format`` of gpg.format; without one git uses that of the
    committer."""

    author: Person
    committer: Person
    key: str = ""
    format: str = ""


def git_identity(repository: Repository | None, env: Mapping[str, str]) -> Authorship:
    """The authorship of a commit that is made in ``repository`` now."""
    values = config.get_all(_KEYS, repository, env)
    user = _person(values["user.name"], values["user.email"])
    author, committer = (
        _person_for(role, values, env)
        .or_else(user)
        .or_else(_person("", env.get("EMAIL")))
        for role in ("author", "committer")
    )
    signing = values["gpg.format"] if values["gpg.format"] in FORMATS else ""
    key = values["user.signingkey"].translate(_CONTROL)
    return Authorship(author, committer, key, signing)


def _person_for(role: str, values: Mapping[str, str], env: Mapping[str, str]) -> Person:
    """The person that variables and configuration set for one of the roles."""
    persons = (
        _person(env.get("WATERCOOLER_GIT_AUTHOR"), env.get("WATERCOOLER_GIT_EMAIL")),
        _person(*(env.get(f"GIT_{role.upper()}_{part}") for part in ("NAME", "EMAIL"))),
        _person(values[f"{role}.name"], values[f"{role}.email"]),
    )
    return persons[0].or_else(persons[1]).or_else(persons[2])


def _person(name: str | None, email: str | None) -> Person:
    return Person(clean(name or ""), clean(email or ""))


def clean(text: str) -> str:
    """A name or an address without characters that git would remove or refuse, or that
    a terminal would obey."""
    return one_line(text).translate(_FORBIDDEN).strip(_CRUD)
