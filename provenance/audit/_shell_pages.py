"""Pages for the shells that the command is completed in.

Guarantees: one for each value of `ctxaudit completion`.

Example:
    >>> sorted(SHELL_PAGES["shell"])
    ['bash', 'fish', 'zsh']
"""

from __future__ import annotations

from provenance.audit._page import Page

__all__ = ["SHELL_PAGES"]

SHELL_PAGES: dict[str, dict[str, Page]] = {
    "shell": {
        "bash": (
            "Completion in bash 4.4 or later.",
            "Chosen by ctxaudit completion bash.",
            "Put `source <(ctxaudit completion bash)` into ~/.bashrc.",
        ),
        "fish": (
            "Completion in fish.",
            "Chosen by ctxaudit completion fish.",
            "Write the script to ~/.config/fish/completions/ctxaudit.fish.",
        ),
        "zsh": (
            "Completion in zsh.",
            "Chosen by ctxaudit completion zsh.",
            "Put `source <(ctxaudit completion zsh)` into ~/.zshrc, after compinit.",
        ),
    },
}
