"""Names of participants, ``Agent@seat (tag)``, when two names mean the same one, and
when one may be a typing error for another.

*agent* is a program or a person, *seat* a linked worktree, *tag* the person the agent
works for. A name with fewer parts means any: a ball for ``Codex`` is for every Codex.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.agents import AGENTS
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Words for "no one holds it" on the command line and in older stores.
FREE_WORDS = frozenset({"anyone", "anybody", "nobody", "none", "free", "-"})

# Words that ``--to`` accepts for participants of the thread: the author, and whoever
# asked for its work.
ME, ASKER = "me", "asker"

MAX_NAME_BYTES = 200

# The seat of an agent in the cloud, whatever seat its session has there: a ball for
# ``Codex@cloud`` is for any of them. Threads of before have ``Codex@cloud/session``.
CLOUD_SEAT, SESSION_SEAT = "cloud", "cloud/session"


def fold(text: str) -> str:
    """The comparison form of one part of a name: no case, no spacing."""
    return "".join(text.split()).casefold()


# The spellings that people and older stores use, folded, each with the canonical
# name of its agent. Settings may add to it.
SPELLINGS = MappingProxyType(
    {
        spelling: agent.name
        for agent in AGENTS
        for spelling in (fold(agent.name), *agent.spellings)
    }
)


class Name(NamedTuple):
    """A participant; ``seat`` and ``tag`` are empty if they do not apply. ``former``
    are other names of the same seat, to which the participant answers, too."""

    agent: str
    seat: str = ""
    tag: str = ""
    former: tuple[str, ...] = ()

    @property
    def seats(self) -> tuple[str, ...]:
        """The names of the seat, that in use first; an empty one without a seat."""
        return (self.seat, *self.former) if self.seat else ("",)

    def __str__(self) -> str:
        """The written form, ``Agent@seat (tag)``; `parse` reads it back."""
        seat = f"@{self.seat}" if self.seat else ""
        tag = f" ({self.tag})" if self.tag else ""
        return f"{self.agent}{seat}{tag}"


def parse(text: str) -> Name:
    """Read ``Agent@seat (tag)``; text of any other shape is all agent."""
    untagged, tag = text.strip(), ""
    if untagged.endswith(")"):
        before, _, inside = untagged[:-1].rpartition("(")
        if before.strip() and inside.strip():
            untagged, tag = before.strip(), inside.strip()
    agent, at_sign, seat = untagged.partition("@")
    if not agent.strip() or (at_sign and not seat.strip()):
        return Name(untagged, "", tag)
    return Name(agent.strip(), seat.strip(), tag)


def unbracketed(text: str) -> str:
    """A seat or tag without brackets, so that the name can be parsed again:
    ``Codex@fix(ui)`` and ``Codex (Pat (Acme))`` could not."""
    return " ".join(text.replace("(", " ").replace(")", " ").split())


def is_fit(text: str) -> bool:
    """Whether ``text`` can be a name, or part of one."""
    return text.isprintable() and len(text.encode()) <= MAX_NAME_BYTES


def is_in_cloud(name: Name) -> bool:
    """Whether ``name`` is that of an agent in the cloud, by its seat."""
    return fold(name.seat) in {CLOUD_SEAT, SESSION_SEAT}


# Whose a ball is, see `Directory.whose`.
MINE, OFFERED, FREE, OTHERS = "mine", "offered", "free", "others"


class Directory(NamedTuple):
    """The current aliases: the spellings of known agents plus those of a store.

    ``in_cloud``: this is an agent's session in the cloud. There, the balls of those
    seats are for it, too.
    """

    aliases: Mapping[str, str] = SPELLINGS
    in_cloud: bool = False

    def canonical(self, name: Name) -> Name:
        """The same participant with the canonical name of its agent.

        An alias of an alias is followed to its end.
        """
        return Name(self._agent(name.agent)[0], name.seat, name.tag)

    def _agent(self, agent: str) -> tuple[str, str]:
        """The canonical name of an agent, and its comparison form."""
        passed = set[str]()
        while (word := fold(agent)) in self.aliases and word not in passed:
            passed.add(word)
            agent = self.aliases[word]
        return agent, word

    def key(self, name: Name) -> str:
        """A form that is equal exactly if two names mean the same participant.

        It is also the file name of status lines, before escaping:
        ``claudecode@fix(pat)``.
        """
        _, agent = self._agent(name.agent)
        seat = f"@{fold(name.seat)}" if name.seat else ""
        tag = f"({fold(name.tag)})" if name.tag else ""
        return f"{agent}{seat}{tag}"

    def matches(self, pattern: str, name: Name) -> bool:
        """Whether ``pattern`` (a ball's holder, a filter) means ``name``."""
        return self.key(parse(pattern)) in self.match_keys(name)

    def match_keys(self, name: Name) -> tuple[str, ...]:
        """The keys of every name that means the participant ``name``, the longest
        first."""
        agent, tag = name.agent, name.tag
        variants = [Name(agent, seat, tag) for seat in name.seats]
        variants += [Name(agent, seat) for seat in name.seats]
        variants += [Name(agent, "", tag), Name(agent)]
        if self.in_cloud:
            for place in (CLOUD_SEAT, SESSION_SEAT):
                variants += [Name(agent, place, tag), Name(agent, place)]
        # Without a seat or a tag, some are equal.
        keys = [self.key(variant) for variant in dict.fromkeys(variants)]
        return tuple(dict.fromkeys(keys))

    def is_agent(self, name: Name) -> bool:
        """Whether ``name`` is that of a known agent, not of a person."""
        return fold(name.agent) in self.aliases

    def whose(self, holder: str | None, me: Name) -> str:
        """Whose a ball is, for ``me``: `MINE`, `OFFERED`, `FREE` or `OTHERS`.

        It is offered if its holder's name means ``me`` among others: a ball for
        ``Codex`` is offered to ``Codex@fix (pat)``. A ball for ``Codex@fix`` is mine: a
        seat is enough to mean no one else.
        """
        if holder is None or not holder.strip():
            return FREE
        key = self.key(parse(holder))
        if key in self.own_keys(me):
            return MINE
        return OFFERED if key in self.match_keys(me) else OTHERS

    def own_keys(self, name: Name) -> tuple[str, ...]:
        """The keys of the names that mean only ``name``."""
        tags = (name.tag, "") if name.seat else (name.tag,)
        variants = (Name(name.agent, seat, tag) for tag in tags for seat in name.seats)
        return tuple(dict.fromkeys(map(self.key, variants)))

    def is_me(self, written: str, me: Name) -> bool:
        """Whether a written name is that of ``me``, with any name of the seat."""
        keys = (self.key(me._replace(seat=seat)) for seat in me.seats)
        return self.key(parse(written)) in keys

    def same(self, first: str, second: str) -> bool:
        """Whether two written names mean the same participant, part by part."""
        return first == second or self.key(parse(first)) == self.key(parse(second))


def is_short_for(short: str, person: str) -> bool:
    """Whether the words of ``short`` are the first of a person's name."""
    first_words = short.casefold().split()
    words = person.casefold().split()[: len(first_words)]
    return bool(first_words) and words == first_words


def without_tag(name: str, tag: str) -> str:
    """A written name without its tag, if that is ``tag``: that of the viewer's own
    agents says nothing to the viewer."""
    parsed = parse(name)
    if not parsed.tag or fold(parsed.tag) != fold(tag):
        return name
    return str(Name(parsed.agent, parsed.seat))


# Shorter topics, and shorter parts of them, differ in one letter from too many others.
_LEAST_LENGTH, _LEAST_PART, _LEAST_BEGINNING = 5, 3, 3
_CUTOFF = 0.6


def near_names(name: str, names: list[str], limit: int = 3) -> list[str]:
    """The names most similar to ``name``, the most similar first."""
    import difflib  # 0.8 ms, only for errors

    folded = {fold(candidate): candidate for candidate in names}
    close = difflib.get_close_matches(fold(name), folded, limit, _CUTOFF)
    return [folded[candidate] for candidate in close]


def are_similar(first: str, second: str) -> bool:
    """Whether one of two topics may be a typing error for the other.

    They are equal except for separators, or one letter is missing, wrong or misplaced.
    Topics with different numbers, or with different numbers of parts, are different on
    purpose.
    """
    parts, second_parts = _parts(first), _parts(second)
    plain, second_plain = "".join(parts), "".join(second_parts)
    # Lengths first: a new topic is compared with all others.
    lengths = len(plain), len(second_plain)
    if max(lengths) - min(lengths) > 1 or _numbers(first) != _numbers(second):
        return False
    if plain == second_plain or min(lengths) < _LEAST_LENGTH:
        return plain == second_plain
    differing = [
        pair for pair in zip(parts, second_parts, strict=False) if len({*pair}) > 1
    ]
    if len(parts) != len(second_parts) or len(differing) != 1:
        return False
    short, long = sorted(differing[0], key=len)
    is_whole = len(parts) == 1
    return (is_whole or len(short) >= _LEAST_PART) and _one_letter_apart(short, long)


def may_abbreviate(beginning: str, topic: str) -> bool:
    """Whether a name may be meant as the beginning of a topic. It is not if the rest is
    a number or a part of its own: ``login`` does not stand for ``login-v2``."""
    return (
        len(beginning) >= _LEAST_BEGINNING
        and topic.startswith(beginning)
        and topic[len(beginning) : len(beginning) + 1] not in {"", *_SEPARATORS}
        and _numbers(beginning) == _numbers(topic)
    )


_SEPARATORS = "-_."


def _parts(topic: str) -> list[str]:
    return topic.replace("_", "-").replace(".", "-").split("-")


def _numbers(topic: str) -> list[str]:
    digits = (c if c.isdigit() else " " for c in topic)
    return "".join(digits).split()


def _one_letter_apart(short: str, long: str) -> bool:
    """Whether one letter was added, replaced, or moved elsewhere."""
    start = 0
    while start < len(short) and short[start] == long[start]:
        start += 1
    end = 0
    while end < len(short) - start and short[-end - 1] == long[-end - 1]:
        end += 1
    a, b = short[start : len(short) - end], long[start : len(long) - end]
    if len(long) - len(short) == 1:
        return not a
    if len(long) != len(short):
        return False
    return len(a) == 1 or a[1:] + a[:1] == b or b[1:] + b[:1] == a
