"""`python -m ctxaudit`: the same as the command `ctxaudit`.

Guarantees: it ends with the same exit codes.

Example:
    $ python -m ctxaudit --version
"""

from __future__ import annotations

from .main import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
