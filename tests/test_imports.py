"""An import does nothing: each public module is loaded in a fresh process that is watched.

The watcher hears CPython's audit events, so a file that is created and removed again, a socket or
a started program is seen too, not only what is left at the end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

_CHECKOUT = Path(__file__).resolve().parent.parent

# Runs before anything else in the child; the module's name is the only argument.
_WATCHER = r"""
import sys
import threading
import json, logging, os, signal

name = sys.argv[1]
deeds = []
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
ACTS = (
    "os.chmod", "os.chown", "os.exec", "os.fork", "os.forkpty", "os.kill", "os.link", "os.mkdir",
    "os.posix_spawn", "os.putenv", "os.remove", "os.rename", "os.rmdir", "os.setxattr",
    "os.spawn", "os.symlink", "os.system", "os.truncate", "os.unsetenv", "os.utime", "pty.spawn",
    "signal.pthread_kill", "subprocess.Popen", "syslog.", "tempfile.", "webbrowser.", "sqlite3.",
    "fcntl.", "urllib.Request", "http.client.", "builtins.input",
)
# Making a socket object asks nothing of the network; these do.
NETWORK = ("socket.bind", "socket.connect", "socket.get", "socket.send")


def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if (isinstance(flags, int) and flags & WRITING) or set(mode or "") & set("wax+"):
            deeds.append(f"open for writing: {path!r}")
    elif event.startswith(ACTS) or event.startswith(NETWORK):
        deeds.append(f"{event}{arguments!r}")


def handlers():
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def loggers():
    root = logging.getLogger()
    known = [log for log in logging.Logger.manager.loggerDict.values() if hasattr(log, "handlers")]
    loud = [
        f"{log.name}: level {log.level}, handlers {log.handlers}"
        for log in known
        if log.level or any(type(h) is not logging.NullHandler for h in log.handlers)
    ]
    return [f"root: level {root.level}, handlers {root.handlers}", *loud]


def descriptors():
    return sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []


def threads():
    tasks = "/proc/self/task"
    return len(os.listdir(tasks)) if os.path.isdir(tasks) else threading.active_count()


def state():
    return {
        "signal handlers": handlers(), "logging": loggers(), "threads": threads(),
        "environment": dict(os.environ), "working folder": os.getcwd(), "umask": umask(),
        "descriptors": descriptors(), "hooks": (sys.excepthook, sys.unraisablehook),
        "recursion limit": sys.getrecursionlimit(), "search path": list(sys.path),
    }


def umask():
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


known = set(sys.modules)
before = state()
sys.addaudithook(watch)
__import__(name)
seen, deeds = deeds, []
after = state()
changed = [f"{key}: {before[key]!r} became {after[key]!r}" for key in before
           if before[key] != after[key]]
print(json.dumps({"deeds": seen + changed, "loaded": sorted(set(sys.modules) - known)}))
"""


def _modules() -> list[str]:
    """Every module that another module or program may import, by its name in the checkout."""
    names = []
    for package in ("provenance", "cli"):
        for path in sorted((_CHECKOUT / package).rglob("*.py")):
            parts = path.relative_to(_CHECKOUT).with_suffix("").parts
            if parts[-1] == "__init__":
                parts = parts[:-1]
            if not any(part.startswith("_") for part in parts):
                names.append(".".join(parts))
    return names


@dataclass(frozen=True, slots=True)
class _Import:
    """What one import did, in words, and which modules it loaded."""

    deeds: list[str]
    loaded: list[str]

    @property
    def packages(self) -> set[str]:
        return {name.partition(".")[0] for name in self.loaded}


def _import_watched(module: str, folder: Path, *, root: Path = _CHECKOUT) -> _Import:
    """Import `module` in a fresh process whose working folder and home are empty."""
    # -S: no .pth file of the environment runs code that would hide what the import does.
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    environment = {
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(root), *sorted(libraries)]),
        "TMPDIR": str(folder),
    }
    done = subprocess.run(
        [sys.executable, "-S", "-B", "-c", _WATCHER, module],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed, _, report = done.stdout.rstrip("\n").rpartition("\n")
    answer = json.loads(report)
    deeds = list(answer["deeds"])
    deeds += [f"standard output: {printed!r}"] if printed else []
    deeds += [f"standard error: {done.stderr!r}"] if done.stderr else []
    deeds += [f"left a file: {path.name}" for path in sorted(folder.iterdir())]
    return _Import(deeds, answer["loaded"])


# What costs a start-up tens of milliseconds, or starts things when it is loaded.
_HEAVY = {"asyncio", "jsonschema", "multiprocessing", "sqlite3", "ssl", "urllib3"}
_MAY_LOAD = {
    # Loaded only when --jobs asks.
    "provenance.parallel": {"multiprocessing"},
    "provenance.processes": {"multiprocessing"},
    "provenance.audit.tree_jobs": {"multiprocessing"},
    "provenance.audit.sandbox_child": {"multiprocessing"},
    "provenance.audit.sandboxed": {"multiprocessing"},
    "provenance.pools": {"multiprocessing"},
    # Loaded only where a summarizer is awaited.
    "provenance.compaction.asking_async": {"asyncio", "ssl"},
    # Loaded with the formats, when there is something to tell.
    "provenance.fs.sqlite": {"sqlite3"},
    "provenance.transcripts.adapters.openai_agents": {"sqlite3"},
    "provenance.transcripts.containers.database": {"sqlite3"},
    "provenance.transcripts.containers.database_files": {"sqlite3"},
}
# Loaded only by commands on states, and by an audit that finds a state store.
_STORES = (
    "cells", "checking", "database", "failures", "guarding", "layout", "own_files",
    "pending_rules", "planning", "reading", "selections", "snapshot", "state_store", "values",
)  # fmt: skip
_MAY_LOAD |= {f"provenance.stores.{name}": {"sqlite3"} for name in _STORES}
_MAY_LOAD |= {
    f"cli.{name}": {"sqlite3"} for name in ("state_json", "state_storing", "state_views", "states")
}
_MAY_LOAD["provenance.stores"] = {"sqlite3"}
_MAY_LOAD["provenance.fs.database_copy"] = {"sqlite3"}
_TERMINAL = {"click", "rich"}
_THIRD_PARTY = {"blake3", "click", "msgspec", "pydantic", "pydantic_core", "rich"}
_PURE = {
    "provenance",
    "provenance.audit_report",
    "provenance.canonical",
    "provenance.clock",
    "provenance.errors",
    "provenance.evidence",
    "provenance.findings",
    "provenance.limits",
    "provenance.pointers",
    "provenance.resolution",
    "provenance.utf8",
}


@pytest.mark.parametrize("module", _modules())
def test_an_import_does_nothing(module: str, tmp_path: Path) -> None:
    done = _import_watched(module, tmp_path)
    assert done.deeds == []
    assert not done.packages & (_HEAVY - _MAY_LOAD.get(module, set()))
    if module.startswith("provenance"):
        assert not done.packages & _TERMINAL
    if module in _PURE:
        assert not done.packages & _THIRD_PARTY


def test_the_library_alone_loads_its_version_and_nothing_else(tmp_path: Path) -> None:
    done = _import_watched("provenance", tmp_path)
    ours = [name for name in done.loaded if name.startswith("provenance")]
    assert ours == ["provenance", "provenance._version"]
    assert done.packages <= {"provenance", *sys.stdlib_module_names}


@pytest.mark.parametrize("module", ["cli.main", "cli.application"])
def test_the_command_starts_without_what_only_single_commands_need(
    module: str, tmp_path: Path
) -> None:
    assert not _import_watched(module, tmp_path).packages & (_THIRD_PARTY - {"click"})


@pytest.mark.parametrize(
    ("source", "deed"),
    [
        ("print('hello')", "standard output"),
        ("import sys; sys.stderr.write('oops')", "standard error"),
        ("open('left.txt', 'w').close()", "left a file"),
        ("import os; os.close(os.open('x', os.O_CREAT)); os.remove('x')", "open for writing"),
        ("import os; os.mkdir('d'); os.rmdir('d')", "os.mkdir"),
        (
            "import threading as t; t.Thread(target=t.Event().wait, daemon=True).start()",
            "threads",
        ),
        ("import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN)", "signal handlers"),
        ("import logging; logging.basicConfig(level='INFO')", "logging"),
        ("import os; os.environ['CTXAUDIT_X'] = '1'", "putenv"),
        ("import subprocess; subprocess.run(['true'])", "subprocess"),
        ("import os; KEPT = os.open('/', os.O_RDONLY)", "descriptors"),
    ],
)
def test_the_watcher_sees(source: str, deed: str, tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(source, encoding="utf-8")
    folder = tmp_path / "empty"
    folder.mkdir()
    deeds = _import_watched("planted", folder, root=tmp_path).deeds
    assert any(deed in seen for seen in deeds), deeds
