"""The entry point of the command `ctxaudit`: listens for SIGINT, and loads the rest only then.

Guarantees: a SIGINT from the first line of `main` to the end of the process ends in exit code 130
or in the code that was already decided, never in a traceback. No file that is opened gets the
number of a standard stream that was closed. Importing this module does nothing and loads next to
nothing.

Example:
    $ ctxaudit verify sample_state
"""

from __future__ import annotations

import os
import sys

from .interrupts import Interrupts

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` costs more than all the rest of this module
    from collections.abc import Sequence
    from typing import NoReturn

    from .application import app

__all__ = ["app", "main"]

# How the numbers 0, 1 and 2 are opened on nothing. Standard output so that a write fails: that
# nobody gets the data is no success.
_ON_NOTHING = (os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code.

    Args:
        args: the arguments, for a run inside another program; None: those of this process, which
            then ends with this call.
    """
    interrupts = Interrupts()
    interrupts.hold()
    interrupts.start()
    _keep_standard_numbers()
    try:
        from .application import run

        code = run(list(sys.argv[1:] if args is None else args), interrupts)
    finally:
        interrupts.stop(for_good=args is None)
    sys.exit(code)


def _keep_standard_numbers() -> None:
    """Open those of the standard streams that are closed on nothing.

    What we or our processes print would else end up in whatever file gets the number. For Python
    they stay closed (`sys.stdout is None`).
    """
    for number, how in enumerate(_ON_NOTHING):
        try:
            os.fstat(number)
        except OSError:
            _open_on_nothing(number, how)


def _open_on_nothing(number: int, how: int) -> None:
    try:
        fd = os.open(os.devnull, how)
        os.set_inheritable(fd, True)
        if fd != number:  # the lowest that is free, as a rule this one
            os.dup2(fd, number)
            os.close(fd)
    except OSError:
        return  # without a null device there is nothing to put there


def __getattr__(name: str) -> object:
    if name == "app":
        from .application import app

        return app
    raise AttributeError(name)


if __name__ == "__main__":
    main()
