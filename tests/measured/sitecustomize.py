"""Notes which lines this process runs, where its environment asks for it.

coverage would do that for any child, but starting it and its database take four
times as long as a `wc` that says something. This starts coverage's own tracer
and nothing else; what is noted goes to coverage by way of tests/measuring.py.
Threads are not followed: `wc` has none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn

ASKED = "COVERAGE_NOTES"


def _start(folder: str, tracer_file: str, source: str) -> None:
    # Nothing of this is for processes that are not measured.
    import atexit
    import marshal
    import time
    from contextlib import suppress
    from importlib.machinery import ExtensionFileLoader, ModuleSpec

    # By its file: its package would import all of coverage.
    loader = ExtensionFileLoader("coverage.tracer", tracer_file)
    module = loader.create_module(ModuleSpec(loader.name, loader, origin=tracer_file))
    loader.exec_module(module)

    def asked(name: str, _: object) -> object:
        if not name.startswith(source):
            return None
        said = module.CFileDisposition()
        said.trace = True
        said.source_filename = name
        said.file_tracer = None
        said.has_dynamic_filename = False
        return said

    tracer = module.CTracer()
    tracer.data = {}
    tracer.trace_arcs = True
    tracer.should_trace = asked
    tracer.should_trace_cache = {}
    tracer.concur_id_func = tracer.should_start_context = None
    tracer.lock_data = tracer.unlock_data = lambda: None
    ended = os._exit

    def note() -> None:
        tracer.stop()
        # The folder goes with the tests; who outlives them notes nothing.
        with suppress(OSError):
            path = f"{folder}/{os.getpid()}-{time.monotonic_ns()}"
            # Someone may be killed at this, or the notes read in the meantime.
            with open(f"{path}.new", "wb") as file:
                marshal.dump(tracer.data, file)
            os.rename(f"{path}.new", path)

    def noted_exit(status: int) -> NoReturn:
        note()
        ended(status)

    atexit.register(note)
    os._exit = noted_exit
    tracer.start()


if ASKED in os.environ:
    _start(*os.environ[ASKED].split(os.pathsep))
