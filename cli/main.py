"""The entry point of the command `ctxaudit`: listens for SIGINT, and loads the rest only then.

Guarantees: a SIGINT from the first line of `main` to the end of the process ends in exit code 130
or in the code that was already decided, never in a traceback. Importing this module does nothing
and loads next to nothing.

Example:
    $ ctxaudit verify sample_state
"""

from __future__ import annotations

import sys

from .interrupts import Interrupts

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` costs more than all the rest of this module
    from collections.abc import Sequence
    from typing import NoReturn

    from .application import app

__all__ = ["app", "main"]


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code.

    Args:
        args: the arguments, for a run inside another program; None: those of this process, which
            then ends with this call.
    """
    interrupts = Interrupts()
    interrupts.hold()
    interrupts.start()
    try:
        from .application import run

        code = run(list(sys.argv[1:] if args is None else args), interrupts)
    finally:
        interrupts.stop(for_good=args is None)
    sys.exit(code)


def __getattr__(name: str) -> object:
    if name == "app":
        from .application import app

        return app
    raise AttributeError(name)


if __name__ == "__main__":
    main()
