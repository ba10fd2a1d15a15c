"""The entry point: ordinary command lines without Typer, mistakes with it.

Typer takes longer to import than ``wc say`` takes in all, so an ordinary command line
is parsed by `wc_cli.run.options`. Help (`wc_cli.run.help`) and completion
(`wc_cli.run.completion`) come from the same declarations. Errors are printed here and
nowhere else.
"""

from __future__ import annotations

import os
import sys

from wc_cli.run import table
from wc_cli.run.context import execute
from wc_cli.run.options import parse, split_leading, takes_signed_words
from wc_cli.run.output import discard_output, json_line, remark
from wc_core.base.errors import CorruptError, WcError
from wc_core.base.files import NotPlainError
from wc_core.base.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from wc_cli.run.options import Declared

_INTERRUPTED = 130
_COMPLETING = "_WC_CLI_COMPLETE"


def main() -> NoReturn:
    """Run as ``wc-cli``; ends the process."""
    _ready_streams()
    code = run(sys.argv[1:])
    # This skips the interpreter's cleanup, which is not needed.
    os._exit(code)


def _ready_streams() -> None:
    """Make sure that the three streams exist and replace characters that they cannot
    encode: the output may be the receipt of an entry that is already on disk."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent process
            mode = "w" if number else "r"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        elif number and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def run(argv: Sequence[str]) -> int:
    """Carry out one command line. Returns the exit code."""
    try:
        _dispatch(argv)
        sys.stdout.flush()
    except WcError as error:
        _report_error(error, argv)
        return error.exit_code
    except NotPlainError as error:
        corrupt = _not_plain(error)
        _report_error(corrupt, argv)
        return corrupt.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough (`wc list | head`).
        discard_output()
        return 0
    except Exception as error:  # noqa: BLE001 - the one place that reports bugs
        return _report_bug(error, argv)
    return 0


def _not_plain(error: NotPlainError) -> WcError:
    """Return the error for a link or a special file in the place of a file or folder of
    the store."""
    return CorruptError(
        f"{error.filename} {error.strerror}.",
        "Nothing was read or changed through it. Move it elsewhere: wc doctor",
    )


def _dispatch(argv: Sequence[str]) -> None:
    if _COMPLETING in os.environ:
        from wc_cli.run.completion.answers import complete  # 20 ms, for a shell

        complete(os.environ)
        return
    if argv and argv[0].startswith("-"):
        leading, rest = split_leading(argv)
        argv = [*rest[:1], *leading, *rest[1:]]
    declared = table.load(argv[0]) if argv else None
    if declared is None or _asks_for_help(declared, argv):
        from wc_cli.run.help.showing import explain  # 4 ms, for help and unknown words

        explain(argv)
        return
    options = parse(declared.options, argv[1:])
    if options is not None:
        execute(declared, options, table.occasion(argv[0]))
        return
    from wc_cli.run import app  # Typer with pydantic: 90 ms, for mistakes

    app.run(declared, argv)


def _asks_for_help(declared: Declared, argv: Sequence[str]) -> bool:
    """Return whether these are a command, perhaps arguments, and an option for help: no
    other option, which could take the last word as its value."""
    if any(word.startswith("-") for word in argv[:-1]):
        return False
    # A command that takes words such as `-h` has no short option.
    is_short = argv[-1] == "-h" and not takes_signed_words(declared.options)
    return is_short or argv[-1] == "--help"


def _wants_json(argv: Sequence[str]) -> bool:
    words = list(argv)
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _report_error(error: WcError, argv: Sequence[str]) -> None:
    if _wants_json(argv):
        fields = {"code": error.code, "message": error.message, "hint": error.hint}
        remark(json_line({"error": fields}))
        return
    remark(f"wc: {one_line(error.message)}")
    if error.hint:
        remark(f"    {one_line(error.hint)}")


def _report_bug(error: Exception, argv: Sequence[str]) -> int:
    """Write the traceback of a bug to a file and print its path."""
    import tempfile  # 7 ms with traceback, only after a bug
    import traceback

    trace = "".join(traceback.format_exception(error))
    with tempfile.NamedTemporaryFile(
        "w", prefix="wc-error-", suffix=".log", delete=False, errors="replace"
    ) as log:
        log.write(f"wc {' '.join(argv[:1])}\n{trace}")
    _report_error(
        WcError(
            f"This is a bug in wc: {type(error).__name__}: {error}",
            f"Please report it with {log.name}",
        ),
        argv,
    )
    return WcError.exit_code


if __name__ == "__main__":
    main()
