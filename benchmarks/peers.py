"""The programs that we are measured against, as far as this machine has them.

Guarantees: a program that is not installed becomes an absent contestant with the reason, never an
error. The C floor is compiled into the benchmark's own folder.

Example:
    >>> program("no-such-program", "no-such-program", "x").absent
    'no-such-program is not installed'
"""

from __future__ import annotations

import shutil
import subprocess
from ctypes.util import find_library
from pathlib import Path

from benchmarks.model import Contestant, Role

__all__ = ["compiled_floor", "program"]

_SOURCE = Path(__file__).resolve().parent / "floor.c"


def program(
    name: str,
    executable: str,
    *arguments: str,
    role: Role = Role.CONTEXT,
    cwd: Path | None = None,
) -> Contestant:
    """Build a contestant from an installed program; absent where it is not installed."""
    found = shutil.which(executable)
    if found is None:
        return Contestant(name, role, (), absent=f"{executable} is not installed")
    return Contestant(name, role, (found, *arguments), cwd=cwd)


def compiled_floor(folder: Path, *, root: Path, manifest: Path) -> Contestant:
    """Compile the C loop and build its contestant; absent without compiler or libcrypto."""
    name = "C floor"
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return Contestant(name, Role.PEER, (), absent="no C compiler is installed")
    binary = folder / "floor"
    errors = ""
    for link in _links():
        command = (compiler, "-O2", "-o", str(binary), str(_SOURCE), link)
        built = subprocess.run(command, capture_output=True, text=True, check=False)
        if built.returncode == 0:
            break
        errors = built.stderr.rpartition("error:")[2].strip()
    else:
        return Contestant(name, Role.PEER, (), absent=f"does not compile: {errors}")
    return Contestant(name, Role.PEER, (str(binary), str(root), str(manifest)), reports=True)


def _links() -> tuple[str, ...]:
    """Ways to name libcrypto; by its file where the development package is not installed."""
    library = find_library("crypto")
    return ("-lcrypto",) if library is None else ("-lcrypto", f"-l:{library}")
