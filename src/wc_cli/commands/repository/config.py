"""``wc config``: the current settings, and changing those that all clones share."""

from __future__ import annotations

from wc_cli.agents.install.formats import toml
from wc_cli.agents.install.formats.jsonc import UnreadableError
from wc_cli.commands.common import LockOptions
from wc_cli.commands.repository import personal
from wc_cli.ledger.store import durable, locks
from wc_cli.run.entries import receipts
from wc_cli.run.options import argument, command, flag, words
from wc_cli.run.output import remark, say, say_json
from wc_core.base import variables
from wc_core.base.errors import CorruptError, InvalidInputError, NotFoundError
from wc_core.base.files import read_plain
from wc_core.base.names import near_names
from wc_core.base.text import one_line
from wc_core.ledger import settingvalues
from wc_core.ledger.configuration import keys, preferences
from wc_core.ledger.configuration.keys import ValueOfKeyError
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.jsontext import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from wc_cli.run.context import Context
    from wc_core.base.layout import Layout
    from wc_core.ledger.configuration.keys import Key
    from wc_core.ledger.settingvalues import SettingValue

_GET, _SET, _UNSET, _LIST = "get", "set", "unset", "list"
_USAGE = "Use: wc config list [TABLE] | get KEY | set KEY VALUE | unset KEY"
_SEE_KEYS = "See all keys: wc config list"


class ConfigOptions(LockOptions):
    """Show the current settings and where each comes from, or change those of the
    repository, which all clones share."""

    action: str = argument(
        "ACTION", "get, set, unset or list; may be left out.", default=_LIST
    )
    words: tuple[str, ...] = words(
        "KEY VALUE", "A key, such as ball.enforce, and its new value.", default=()
    )
    personal: bool = flag(
        "--global", help="Your own preferences, in every repository of this machine."
    )
    show_origin: bool = flag("--show-origin", help="Show where each value comes from.")


@command(ConfigOptions)
def config(context: Context, options: ConfigOptions) -> None:
    """Show or change settings."""
    if options.action not in _ACTIONS and "." in options.action:
        options.words = (options.action, *options.words)
        options.action = _SET if len(options.words) > 1 else _GET
    action = _ACTIONS.get(options.action)
    if action is None:
        raise InvalidInputError(
            f"wc config has no action {one_line(options.action)!r}.", _USAGE
        )
    action(context, options)


def _list(context: Context, options: ConfigOptions) -> None:
    values = _values(context, options)
    if options.words:
        tables = dict.fromkeys(key.parts[0] for key in _table(options))
        if len(options.words) > 1 or options.words[0] not in tables:
            raise InvalidInputError(
                f"wc config list takes one of: {', '.join(tables)}.", _USAGE
            )
        values = [value for value in values if value.parts[0] == options.words[0]]
    if options.json:
        say_json({"settings": [value.to_json() for value in values]})
    else:
        shown = [value for value in values if value.value is not None]
        say("\n".join(_line(value, options) for value in shown))
    _remark_damage(context, options)


def _get(context: Context, options: ConfigOptions) -> None:
    parts, key = _key(options.words[:1], options)
    if len(options.words) > 1:
        raise InvalidInputError("wc config get takes one key.", _USAGE)
    path = _folded(parts)
    for value in _values(context, options):
        if _folded(value.parts) == path and value.value is not None:
            break
    else:
        name = one_line(options.words[0])
        raise NotFoundError(f"{name} is not set.", f"{key.help} {_SEE_KEYS}")
    if options.json:
        say_json(value.to_json())
    else:
        origin = f"{value.place}\t" if options.show_origin else ""
        say(f"{origin}{one_line(_plain(value.value))}")
    _remark_damage(context, options)


def _set(context: Context, options: ConfigOptions) -> None:
    parts, key = _key(options.words[:1], options)
    if len(options.words) == 1:
        raise InvalidInputError(
            f"Which value should {key.name} have?", f"It takes: {key.values}"
        )
    try:
        value = keys.typed(key, options.words[1:])
    except ValueOfKeyError as error:
        raise InvalidInputError(f"{error}.", f"It takes: {key.values}") from error
    changed = _change(
        context, options, lambda before: toml.set_value(before, parts, value).text
    )
    _report(context, options, parts, changed=changed)


def _unset(context: Context, options: ConfigOptions) -> None:
    if len(options.words) > 1:
        raise InvalidInputError("wc config unset takes one key.", _USAGE)
    # Keys that this version does not know can be removed, too.
    parts = keys.split(options.words[0]) if options.words else _key((), options)[0]

    def edit(before: str) -> str:
        if toml.find(before, parts) is None:
            if keys.find(parts, _table(options)) is None:
                raise _unknown(options.words[0], options)
            return before
        return toml.without(before, parts)

    _report(context, options, parts, changed=_change(context, options, edit))


_ACTIONS = {_GET: _get, _SET: _set, _UNSET: _unset, _LIST: _list}


def _table(options: ConfigOptions) -> Sequence[Key]:
    return preferences.KEYS if options.personal else keys.KEYS


def _values(context: Context, options: ConfigOptions) -> list[SettingValue]:
    if options.personal:
        return personal.values(context.env)
    context.adopt()
    return settingvalues.in_force(context.place.root)


def _change(
    context: Context, options: ConfigOptions, edit: Callable[[str], str]
) -> bool:
    """Edit the file. Raises CorruptError if that cannot be done in place."""
    if options.personal:
        return personal.change(context.env, edit)
    layout = context.writer().reader.layout
    seconds = vocabulary.seconds(options.lock_timeout or "10")
    try:
        return change(layout, edit, context.identity.author, seconds)
    except UnreadableError as error:
        raise CorruptError(
            f"config.toml was not changed: {one_line(str(error))}.",
            f"Fix it with an editor: {layout.config}",
        ) from error


def _report(
    context: Context, options: ConfigOptions, parts: tuple[str, ...], *, changed: bool
) -> None:
    """Settle the change, and print the current value."""
    notes: list[str] = []
    if changed and not options.personal:
        notes += receipts.start_settling(context)
    path = _folded(parts)
    values = _values(context, options)
    value = next((item for item in values if _folded(item.parts) == path), None)
    if options.json:
        fields = value.to_json() if value is not None else {"key": options.words[0]}
        say_json({**fields, "changed": changed})
    else:
        line = one_line(f"{options.words[0]} is not set")
        if value is not None and value.value is not None:
            line = _line(value, options)
        say(line if changed else f"{line} (as before)")
    for note in notes:
        remark(f"note: {one_line(note)}")


def _key(typed: tuple[str, ...], options: ConfigOptions) -> tuple[tuple[str, ...], Key]:
    """The parts of the typed key, and its declaration."""
    if not typed:
        raise InvalidInputError("Which key?", _USAGE)
    parts = keys.split(typed[0])
    key = keys.find(parts, _table(options))
    if key is None:
        raise _unknown(typed[0], options)
    return parts, key


def _unknown(typed: str, options: ConfigOptions) -> InvalidInputError:
    names = [key.name for key in _table(options)]
    if typed in {key.name for key in (*keys.KEYS, *preferences.KEYS)}:
        if options.personal:
            return InvalidInputError(
                f"{typed} is a setting of the repository.", "Leave out --global."
            )
        return InvalidInputError(
            f"{typed} is one of your preferences.", "Add --global."
        )
    word = keys.split(typed)[-1]
    # Often only the table is missing or wrong.
    near = [name for name in names if name.split(".")[-1] == word]
    near = near or near_names(typed, names)
    hint = f"Did you mean: {', '.join(near)}? " if near else ""
    if options.personal:
        hint += f"Preferences: {', '.join(names)}. "
    return InvalidInputError(
        f"There is no setting {one_line(typed)!r}.", f"{hint}{_SEE_KEYS}"
    )


def _folded(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.casefold().replace(" ", "") for part in parts)


def _line(value: SettingValue, options: ConfigOptions) -> str:
    origin = f"{value.place}\t" if options.show_origin else ""
    shown = value.value
    if options.personal and personal.is_secret(value.parts):
        shown = personal.shown(shown)
    return origin + one_line(f"{value.name} = {_written(shown)}")


def _written(value: Any) -> str:
    """A value as in a file: JSON and TOML write these values the same."""
    return dumps(list(value) if isinstance(value, tuple) else value)


def _plain(value: Any) -> str:
    """A value for a script: text without quotation marks."""
    return value if isinstance(value, str) else _written(value)


def _remark_damage(context: Context, options: ConfigOptions) -> None:
    """Report files that are ignored, and what has no effect."""
    for sentence in variables.about_unknown(context.env):
        remark(f"note: {one_line(sentence)}")
    if options.personal:
        own = preferences.load(context.env)
        if own.problem:
            remark(f"note: {one_line(own.problem)}")
        for key in own.ignored:
            remark(f"note: {one_line(keys.about_unknown(key))}")
        return
    settings = context.settings
    if settings.damage is not None:
        damage = settings.damage
        remark(f"note: {one_line(f'{damage.file}: {damage.message}')}")
    for key in settings.ignored:
        remark(f"note: {one_line(keys.about_unknown(key))}")


def change(
    layout: Layout, edit: Callable[[str], str], holder: str, seconds: float
) -> bool:
    """Replace the text of the settings with the result of ``edit``. Returns whether it
    changed.

    Raises LockTimeoutError, CorruptError if it is not text, StorageError, and what
    ``edit`` raises; the file is unchanged then.
    """
    # Settling holds this lock while it applies others' changes to the same file.
    with locks.locked(layout.git_lock, holder, seconds, layout.root):
        try:
            text = (read_plain(layout.config, layout.root) or b"").decode()
        except UnicodeDecodeError as error:
            raise CorruptError(
                "config.toml cannot be changed: it is not text.", "See: wc doctor"
            ) from error
        except OSError as error:
            durable.raise_storage_error("cannot be read", layout.config, error)
        edited = edit(text)
        if edited == text:
            return False
        durable.create(layout.config, edited.encode(), layout.root)
        return True
