"""The text of an entry from a user's editor, as git asks for a commit message."""

from __future__ import annotations

import os
import subprocess
import tempfile

from wc_core.errors import InvalidInputError

# Everything below this line of the edited file is discarded.
_SCISSORS = "# ------------------------ >8 ------------------------"


def edited_text(editor: str, title: str) -> bytes:
    """Returns what a user leaves in ``editor``, up to the scissors line. Raises
    InvalidInputError if the editor fails."""
    hint = f"\n{_SCISSORS}\n# {title}\n# Write the text above; leave it empty for none."
    with tempfile.TemporaryDirectory(prefix="wc-") as folder:
        path = os.path.join(folder, "ENTRY.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{hint}\n")
        # The editor may be several words for the shell, as for git. The path is one.
        done = subprocess.run(  # noqa: S603
            ["sh", "-c", f'{editor} "$@"', editor, path],  # noqa: S607
            check=False,
        )
        if done.returncode:
            raise InvalidInputError(
                f"The editor ended with {done.returncode}; nothing was written.",
                "Give the text with --body, or run the command again.",
            )
        with open(path, "rb") as file:
            return file.read().partition(_SCISSORS.encode())[0].strip(b"\n")
