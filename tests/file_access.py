"""Finds code that opens files or joins paths, by walking the syntax tree.

Guarantees: a call is recognised under every name an import can give it (`import os as o`,
`from os import open as raw`), and a forbidden function that is only passed on counts as well.
Not recognised: names that are computed at run time.

Example:
    >>> [str(hit) for hit in find_file_access("from os import path as p\\np.join(a, b)", "x.py")]
    ["x.py:2: os.path.join"]
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

__all__ = ["FileAccess", "find_file_access"]

# Modules whose only purpose is to reach files or to join paths: not even imported.
_MODULES = frozenset(
    {
        "dbm", "fileinput", "filecmp", "genericpath", "glob", "linecache", "mmap", "ntpath",
        "os.path", "posixpath", "shelve", "shutil", "sqlite3", "tarfile", "tempfile", "zipfile",
    }
)  # fmt: skip

# Functions of `os` that take a path or open something.
_OS = frozenset(
    {
        "access", "chdir", "chmod", "chown", "chroot", "fdopen", "fwalk", "getxattr", "lchown",
        "link", "listdir", "listxattr", "lstat", "makedirs", "mkdir", "mkfifo", "mknod", "open",
        "path", "pathconf", "readlink", "remove", "removedirs", "rename", "renames", "replace",
        "rmdir", "scandir", "setxattr", "stat", "statvfs", "symlink", "truncate", "unlink",
        "utime", "walk",
    }
)  # fmt: skip

_FUNCTIONS = frozenset(
    {f"os.{name}" for name in _OS}
    | {
        "builtins.open", "click.File", "click.open_file", "codecs.open", "gzip.open", "io.FileIO",
        "io.open", "io.open_code", "lzma.open", "bz2.open", "tokenize.open",
    }
)  # fmt: skip

# Methods of pathlib.Path; what other types have too (`rename`, `exists`, `replace`) is left out.
_METHODS = frozenset(
    {
        "expanduser", "glob", "hardlink_to", "is_dir", "is_file", "is_symlink",
        "iterdir", "joinpath", "lstat", "mkdir", "open", "read_bytes", "read_text", "readlink",
        "rglob", "rmdir", "samefile", "symlink_to", "touch", "unlink", "with_name", "with_stem",
        "with_suffix", "write_bytes", "write_text",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, order=True)
class FileAccess:
    """One place that reaches a file, by its canonical dotted name."""

    file: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.name}"


def find_file_access(source: str, file: str) -> list[FileAccess]:
    """List every place in `source` that opens a file, asks about one or joins a path."""
    finder = _Finder(file)
    finder.visit(ast.parse(source))
    return sorted(set(finder.found))


class _Finder(ast.NodeVisitor):
    def __init__(self, file: str) -> None:
        self.found: list[FileAccess] = []
        self._file = file
        self._origin = {"open": "builtins.open"}

    def _note(self, node: ast.AST, name: str) -> None:
        self.found.append(FileAccess(self._file, getattr(node, "lineno", 0), name))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name in _MODULES:
                self._note(node, alias.name)
            top = alias.name.partition(".")[0]
            self._origin[alias.asname or top] = alias.name if alias.asname else top

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            origin = f"{node.module}.{alias.name}" if node.level == 0 else f".{alias.name}"
            if node.level == 0 and (node.module in _MODULES or origin in _MODULES | _FUNCTIONS):
                self._note(node, origin)
            self._origin[alias.asname or alias.name] = origin

    def visit_Name(self, node: ast.Name) -> None:
        origin = self._origin.get(node.id)
        if isinstance(node.ctx, ast.Load) and origin in _FUNCTIONS:
            self._note(node, origin)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._dotted(node)
        if name in _FUNCTIONS or (name is not None and name.rpartition(".")[0] in _MODULES):
            self._note(node, name)
        else:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func
        if node.args and self._dotted(node.args[0]) == "os.devnull":
            return  # the null device holds nothing and is no path that anybody could choose
        if isinstance(called, ast.Attribute):
            if called.attr in _METHODS and self._dotted(called) is None:
                self._note(node, f".{called.attr}()")
        elif isinstance(called, ast.Name) and called.id == "getattr" and len(node.args) > 1:
            holder, wanted = self._dotted(node.args[0]), node.args[1]
            if isinstance(wanted, ast.Constant) and f"{holder}.{wanted.value!s}" in _FUNCTIONS:
                self._note(node, f"{holder}.{wanted.value!s}")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        # Numbers are not divided by text, so this joins a path.
        if isinstance(node.op, ast.Div) and (_is_text(node.left) or _is_text(node.right)):
            self._note(node, "path / text")
        self.generic_visit(node)

    def _dotted(self, node: ast.AST) -> str | None:
        """Give the imported dotted name behind an expression; None for any other object."""
        if isinstance(node, ast.Name):
            return self._origin.get(node.id)
        if isinstance(node, ast.Attribute):
            holder = self._dotted(node.value)
            return None if holder is None else f"{holder}.{node.attr}"
        return None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
