"""One module a command; `cli.application` loads the one that was asked for.

Example:
    $ ctxaudit explain artifact_missing
"""

__all__: list[str] = []
