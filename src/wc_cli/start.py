"""The entry point of `wc-cli`, and of the launcher `wc`, which starts Python with it.

A short command imports 90 of our modules, and for each, the standard finder makes
eleven system calls, in Python. The finder here makes four. It finds a module only if
its bytecode exists and is up to date, by the usual rule: the version of Python, and the
time and size of the source. It leaves everything else to the standard finders: sources
that are not compiled yet, bytecode with a hash, archives.

A few modules have a *bundle* beside their own bytecode: the bytecode of all modules
that they import. These are loaded without a search, with one system call each for the
time and size of the source. A bundle is written when its module is imported, by
Python's rules for bytecode. It can be deleted at any time: missing modules are found
one by one.
"""

from __future__ import annotations

import gc
import posix  # noqa: TID251 - `os` takes 1 ms
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import (
    MAGIC_NUMBER,
    PathFinder,
    SourceFileLoader,
    spec_from_file_location,
)
from marshal import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType
    from typing import NoReturn

# The number of new objects after which Python collects garbage; its default is 700.
_ALLOCATIONS = 100_000
# The modules that every command, or a frequent one, imports.
BUNDLED = (
    "wc_cli.main",
    "wc_cli.commands.writing",
    "wc_cli.store.writer",
    "wc_cli.commands.reading.lists",
    "wc_cli.commands.reading.thread",
    "wc_cli.commands.reading.searching",
    "wc_cli.commands.edits.check",
    "wc_cli.commands.edits.claims",
    "wc_cli.commands.edits.activity",
    "wc_cli.commands.brief",
    "wc_cli.briefing.hook",
    "wc_cli.briefing.fitting",
    "wc_cli.briefing.toolhooks",
    "wc_cli.commands.wait",
    "wc_cli.commands.repository.inbox",
    "wc_cli.cost.recording",
    "wc_cli.background",
    "wc_cli.review.seeing",
)
# Bytecode that is checked by the time and size of its source begins with this.
_BY_TIME = MAGIC_NUMBER + bytes(4)
_HEADER_BYTES = 16
# Longer ones would get their memory from the kernel; our modules have 38 KB at most.
_MOST_BYTES = 100_000
_32_BITS = 0xFFFF_FFFF
# A bundle begins and ends with this, so that a truncated one is invalid. In between are
# the size of the table of sources, the table, and the code of each source.
_BUNDLE = MAGIC_NUMBER + b"wc-bundle-1\n"
_SIZE_BYTES = 4
_TAG = sys.implementation.cache_tag
_new_module = type(sys)

# The modules that were loaded here; a module's imports come before it.
_loaded: list[str] = []


class _QuickLoader(SourceFileLoader):
    """The standard loader, with bytecode that has already been read."""

    bytecode = b""

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module: the one that was read, the first time."""
        data, self.bytecode = self.bytecode, b""
        if not data:
            return super().get_code(fullname)
        return _code(data)

    def exec_module(self, module: ModuleType) -> None:
        """Run the code of the module."""
        super().exec_module(module)
        _loaded.append(module.__name__)


class _BundleLoader(_QuickLoader):
    """Loads a module after all its imports, which are in its bundle."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the code of the module, and write the bundle if it lacked any."""
        base = self.path.removesuffix(_source("", module.__name__))
        bundle = _compiled(self.path, ".opt-bundle")
        count = len(_loaded)
        names = _load_bundle(bundle, base)
        super().exec_module(module)
        needed = dict.fromkeys(_loaded[count:-1])
        if sys.dont_write_bytecode or needed.keys() <= set(names):
            return
        # Earlier imports come first: others may need them.
        not_needed = [name for name in names if name not in needed]
        data = _bundle([*not_needed, *needed], base)
        if data:
            # Replaces the file atomically; a failure is not an error.
            self.set_data(bundle, data)


class _QuickFinder:
    """Finds the modules of some packages."""

    def __init__(self, packages: Sequence[str], bundled: Sequence[str]) -> None:
        self._prefixes = tuple(f"{package}." for package in packages)
        self._bundled = bundled

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: object = None
    ) -> ModuleSpec | None:
        """How to load a module; ``None`` leaves it to the next finder."""
        if not name.startswith(self._prefixes) or not path:
            return None
        [folder, *further_folders] = path
        if further_folders or not folder.startswith("/"):
            return None
        own = name.rpartition(".")[2]
        return self._spec(name, f"{folder}/{own}.py", None) or self._spec(
            name, f"{folder}/{own}/__init__.py", f"{folder}/{own}"
        )

    def _spec(self, name: str, source: str, inside: str | None) -> ModuleSpec | None:
        """How to load a module from its source, for a package with the folder of its
        contents; ``None`` if it does not exist, or is not compiled."""
        try:
            status = posix.stat(source)
            compiled = _compiled(source)
            bytecode = _current(compiled, status)
        except OSError:
            return None
        if not bytecode:
            return None
        # A second thread might see a module of a bundle before it is complete.
        in_bundle = name in self._bundled and "threading" not in sys.modules
        loader = (_BundleLoader if in_bundle else _QuickLoader)(name, source)
        loader.bytecode = bytecode
        spec = spec_from_file_location(
            name,
            source,
            loader=loader,
            submodule_search_locations=None if inside is None else [inside],
        )
        if spec is not None:
            spec.cached = compiled
        return spec


class _SiteFinder:
    """The last finder, if Python was started without `site`. For the first module that
    no other finder has, it runs `site`, which adds further folders, and looks again."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: object = None
    ) -> ModuleSpec | None:
        """How to load a module; ``None`` if it does not exist."""
        from wc_core.lean import site  # after the finder of our modules is there

        site.load()
        if self in sys.meta_path:  # no other thread was first
            sys.meta_path.remove(self)
        return PathFinder.find_spec(name, path)


def _source(base: str, name: str, *, is_package: bool = False) -> str:
    """The source of a module below a folder, which ends with a slash or is empty."""
    end = "/__init__.py" if is_package else ".py"
    return f"{base}{name.replace('.', '/')}{end}"


def _compiled(source: str, kind: str = "") -> str:
    """The path of a source's bytecode, or another kind of it, by PEP 488."""
    folder, _, file = source.rpartition("/")
    folder = (
        f"{sys.pycache_prefix}{folder}"
        if sys.pycache_prefix
        else (f"{folder}/__pycache__")
    )
    return f"{folder}/{file[:-3]}.{_TAG}{kind}.pyc"


def _current(compiled: str, status: posix.stat_result) -> bytes:
    """The bytecode of a source with this status; empty if it is not up to date. Raises
    OSError."""
    handle = posix.open(compiled, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        data = posix.read(handle, _MOST_BYTES)
    finally:
        posix.close(handle)
    expected = (
        _BY_TIME
        + (int(status.st_mtime) & _32_BITS).to_bytes(4, "little")
        + (status.st_size & _32_BITS).to_bytes(4, "little")
    )
    return data if data.startswith(expected) and len(data) < _MOST_BYTES else b""


def _code(data: bytes) -> CodeType:
    """The code in a file with bytecode."""
    code: CodeType = loads(  # noqa: S302 - as importlib does
        memoryview(data)[_HEADER_BYTES:]
    )
    return code


def _load_bundle(path: str, base: str) -> list[str]:
    """Load the modules of a bundle whose sources are below ``base``. Returns their
    names; none if it is missing or not up to date."""
    try:
        handle = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            data = posix.read(handle, posix.fstat(handle).st_size)
        finally:
            posix.close(handle)
        if not (data.startswith(_BUNDLE) and data.endswith(_BUNDLE)):
            return []
        tail = memoryview(data)[len(_BUNDLE) :]
        size = int.from_bytes(tail[:_SIZE_BYTES], "little")
        sources = loads(tail[_SIZE_BYTES:])  # noqa: S302 - as importlib does
        for name, is_package, *expected in sources:
            status = posix.stat(_source(base, name, is_package=is_package))
            if [status.st_mtime_ns, status.st_size] != expected:
                return []
        if not _are_below(base, {name.partition(".")[0] for name, *_ in sources}):
            return []
        codes = loads(tail[_SIZE_BYTES + size :])  # noqa: S302 - as above
    except (OSError, EOFError, TypeError, ValueError):
        return []
    for (name, is_package, *_), code in zip(sources, codes, strict=True):
        if name not in sys.modules:
            try:
                _load(name, _source(base, name, is_package=is_package), code)
            except Exception:  # noqa: BLE001 - raised again by its import
                break
    return [name for name, *_ in sources]


def _are_below(base: str, packages: set[str]) -> bool:
    """Return whether these packages are imported from there, not from elsewhere on the
    path."""
    for package in packages:
        __import__(package)
        if [*sys.modules[package].__path__] != [f"{base}{package}"]:
            return False
    return True


def _load(name: str, source: str, code: CodeType) -> None:
    """Make a module, as `importlib` does after finding it."""
    folder, _, file = source.rpartition("/")
    is_package = file == "__init__.py"
    parent, _, own = name.rpartition(".")
    __import__(parent)
    loader = _QuickLoader(name, source)
    spec = ModuleSpec(name, loader, origin=source, is_package=is_package)
    spec.has_location = True
    spec.cached = _compiled(source)
    module = sys.modules[name] = _new_module(name)
    attributes = module.__dict__
    attributes |= {
        "__file__": source,
        "__cached__": spec.cached,
        "__loader__": loader,
        "__package__": spec.parent,
        "__spec__": spec,
    }
    if is_package:
        spec.submodule_search_locations = attributes["__path__"] = [folder]
    try:
        exec(code, attributes)  # noqa: S102 - as importlib does
    except BaseException:
        del sys.modules[name]
        raise
    setattr(sys.modules[parent], own, module)
    _loaded.append(name)


def _bundle(names: Sequence[str], base: str) -> bytes:
    """A bundle of these modules; empty if one of them is elsewhere, or its bytecode is
    not up to date."""
    sources, codes = [], []
    for name in names:
        spec = sys.modules[name].__spec__
        if spec is None:
            return b""
        is_package = spec.submodule_search_locations is not None
        source = _source(base, name, is_package=is_package)
        try:
            status = posix.stat(source)
            bytecode = _current(_compiled(source), status)
        except OSError:
            return b""
        if not bytecode or spec.origin != source:
            return b""
        sources.append((name, is_package, status.st_mtime_ns, status.st_size))
        codes.append(_code(bytecode))
    table = dumps(sources)
    size = len(table).to_bytes(_SIZE_BYTES, "little")
    return b"".join((_BUNDLE, size, table, dumps(codes), _BUNDLE))


def find_quickly(*packages: str, bundled: Sequence[str] = ()) -> None:
    """From now on, find the modules of these packages this way, and keep a bundle for
    each of the ``bundled`` ones. No module in their folders may have the name of a
    package."""
    # With -O, bytecode has another name.
    if not sys.flags.optimize:
        sys.meta_path.insert(0, _QuickFinder(packages, bundled))


def main() -> NoReturn:
    """Run as ``wc-cli``; ends the process."""
    # A short command mostly allocates its own modules: collecting garbage during the
    # imports takes 3 ms, and in a list of 10,000 threads 11 ms.
    gc.set_threshold(_ALLOCATIONS)
    find_quickly("wc_core", "wc_cli", bundled=BUNDLED)
    if sys.flags.no_site:
        sys.meta_path.append(_SiteFinder())
    from wc_cli import main as commands  # 10 ms, now fast and without pauses

    commands.main()


if __name__ == "__main__":
    main()
