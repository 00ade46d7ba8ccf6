"""The command line of ctxaudit; installed, this package is called `ctxaudit`.

Example:
    $ ctxaudit verify sample_state
"""

__all__: list[str] = []
