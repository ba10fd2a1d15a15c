"""The next holder of a ball if no one is named, and the spelling of names."""

from __future__ import annotations

from wc_core.base import names
from wc_core.ledger.configuration.keys import EVERYONE
from wc_core.ledger.threads.model import FREE, Ball

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.base.names import Directory, Name
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.settings import Settings


def person_for(state: State, me: Name, directory: Directory) -> str:
    """The person who asked for a thread, or whose agent asked; otherwise the one whose
    agent I am, or I; otherwise anyone."""
    asker = names.parse(state.asker)
    if state.asker and not directory.is_agent(asker):
        return state.asker
    own = "anyone" if directory.is_agent(me) else str(me)
    return asker.tag or me.tag or own


def default_holder(state: State, me: Name, settings: Settings) -> Ball:
    """The next holder after ``me``, who has the ball or finds it free. A free ball of
    someone else's thread goes to the asker, because everyone else may have left no more
    than a remark."""
    directory = settings.directory
    if state.ball is None:
        configured = configured_counterpart(state, me, settings)
        if configured is not None:
            return Ball(configured)
        if state.asker and not directory.is_me(state.asker, me):
            return Ball(state.asker)
        return Ball(_last_passer(state, me, directory))
    return counterpart(state, me, settings)


def counterpart(state: State, me: Name, settings: Settings) -> Ball:
    """The next holder after ``me`` if no one is named.

    The configured counterpart, otherwise whoever last passed me the ball, otherwise the
    last other participant, otherwise no one.
    """
    directory = settings.directory
    configured = configured_counterpart(state, me, settings)
    passer = configured or _last_passer(state, me, directory)
    if passer is not None:
        return Ball(passer)
    for name, _ in reversed(state.participants):
        if name and not directory.is_me(name, me):
            return Ball(name)
    return FREE


def _last_passer(state: State, me: Name, directory: Directory) -> str | None:
    """The participant who last passed the ball to ``me``."""
    for to, by in reversed(state.passes):
        # "By me" needs exactly the same name: the same agent in the main worktree,
        # where its name has no seat, is another participant than in a linked worktree.
        if directory.matches(to, me) and not directory.is_me(by, me):
            return by
    return None


def configured_counterpart(state: State, me: Name, settings: Settings) -> str | None:
    """The counterpart of ``me`` in the settings, its alias resolved.

    One for the thread, under any of its names, precedes a global one, one for the
    longer form of my name precedes one for a shorter form, and that precedes one for
    everyone. In a list, the first that is someone else counts. An agent without a tag
    is the one of the same user.
    """
    directory = settings.directory
    topics = (*reversed(state.names), state.topic)
    for table in settings.counterparts_in(topics):
        by_key = {directory.key(names.parse(name)): to for name, to in table.items()}
        for key in (*directory.match_keys(me), EVERYONE):
            for written in by_key.get(key, ()):
                name = directory.canonical(names.parse(written))
                if not directory.matches(str(name), me):
                    return str(_of_same_user(name, me, directory))
    return None


def _of_same_user(name: Name, me: Name, directory: Directory) -> Name:
    """A name with the tag of ``me``, if it is an agent's name without a tag."""
    if name.tag or not directory.is_agent(name):
        return name
    # An agent in the cloud may have no tag: nobody has said whose it is.
    person = "" if directory.is_agent(me) else me.agent
    return name._replace(tag=me.tag or person)


def in_use(name: Name, people: Iterable[str], directory: Directory) -> str:
    """A name in the spelling of ``people``, who may write it in other capitals or with
    other blanks. The name of an agent has one spelling, whatever they write."""
    folded = names.fold(str(name))
    used = next((person for person in people if names.fold(person) == folded), None)
    if used is None:
        return str(name)
    is_agent = directory.is_agent(name)
    return str(names.parse(used)._replace(agent=name.agent)) if is_agent else used


def distinct(people: Iterable[str], directory: Directory) -> list[str]:
    """Every participant once. A short name counts only if it means no other one."""
    by_key = {directory.key(names.parse(person)): person for person in people if person}
    return [
        person
        for key, person in by_key.items()
        if not any(
            directory.matches(person, names.parse(second))
            for second_key, second in by_key.items()
            if second_key != key
        )
    ]
