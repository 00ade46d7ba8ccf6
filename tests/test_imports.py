"""An import does nothing: public modules are loaded in fresh processes that are watched.

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

# Runs before anything else in the child; the arguments are the modules, in their order.
_WATCHER = r"""
import sys
import threading
import json, logging, os, signal

names = sys.argv[1:]
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
            deeds.append(f"{current}open for writing: {path!r}")
    elif event.startswith(ACTS) or event.startswith(NETWORK):
        deeds.append(f"{current}{event}{arguments!r}")


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
current = ""
sys.addaudithook(watch)
for name in names:
    if len(names) > 1:
        current = name + ": "
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


def _import_watched(*modules: str, folder: Path, root: Path = _CHECKOUT) -> _Import:
    """Import modules in a fresh process whose working folder and home are empty."""
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
        [sys.executable, "-S", "-B", "-c", _WATCHER, *modules],
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
_MAY_LOAD["provenance.retention.databases"] = {"sqlite3"}
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


# One process for all that may load the same: what none of them loads together, none loads alone.
_ALIKE = {
    "pure": [name for name in _modules() if name in _PURE],
    "library": [
        name for name in _modules() if name.startswith("provenance") and name not in _MAY_LOAD
    ],
    "command line": [
        name for name in _modules() if name.startswith("cli") and name not in _MAY_LOAD
    ],
}


@pytest.mark.parametrize("kind", _ALIKE)
def test_imports_do_nothing(kind: str, tmp_path: Path) -> None:
    done = _import_watched(*_ALIKE[kind], folder=tmp_path)
    assert done.deeds == []
    assert not done.packages & _HEAVY
    if kind != "command line":
        assert not done.packages & _TERMINAL
    if kind == "pure":
        assert not done.packages & _THIRD_PARTY


@pytest.mark.parametrize("module", sorted(set(_MAY_LOAD) & set(_modules())))
def test_an_import_does_nothing(module: str, tmp_path: Path) -> None:
    done = _import_watched(module, folder=tmp_path)
    assert done.deeds == []
    assert not done.packages & (_HEAVY - _MAY_LOAD[module])
    if module.startswith("provenance"):
        assert not done.packages & _TERMINAL


# Before a module its packages are loaded, whoever asks: so each package forks for its own modules.
_EACH_FIRST = """
import os, sys
import asyncio, concurrent.futures, ctypes, multiprocessing, sqlite3, ssl  # the standard library's
import blake3, click, msgspec, pydantic, rich.console, rich.table, rich.progress

first, *names = sys.argv[1:]
if first != "provenance":  # which knows nothing of it
    import provenance.audit, provenance.compaction, provenance.retention, provenance.doctor


def in_child(work):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def visit(package):
    __import__(package)
    inner = [name for name in names if name.rpartition(".")[0] == package]
    for name in inner:
        is_package = any(other.startswith(name + ".") for other in names)
        work = (lambda: visit(name)) if is_package else (lambda: __import__(name))
        if not in_child(work):
            print(name)


visit(first)
"""


@pytest.mark.parametrize("package", ["provenance", "cli"])
def test_each_module_can_be_the_first_of_ours(package: str, tmp_path: Path) -> None:
    names = [name for name in _modules() if name.startswith(package)]
    done = subprocess.run(
        [sys.executable, "-B", "-c", _EACH_FIRST, package, *names],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr


def test_the_library_alone_loads_its_version_and_nothing_else(tmp_path: Path) -> None:
    done = _import_watched("provenance", folder=tmp_path)
    ours = [name for name in done.loaded if name.startswith("provenance")]
    assert ours == ["provenance", "provenance._version"]
    assert done.packages <= {"provenance", *sys.stdlib_module_names}


@pytest.mark.parametrize(
    "module",
    ["provenance.resolver", "provenance.artifacts", "provenance.compaction", "cli.auditing"],
)
def test_pydantic_is_loaded_only_for_the_documents_that_it_reads(
    module: str, tmp_path: Path
) -> None:
    """It is half of what starting an audit takes; policies, waivers and states need it."""
    assert not _import_watched(module, folder=tmp_path).packages & {"pydantic", "pydantic_core"}


@pytest.mark.parametrize("module", ["cli.main", "cli.application"])
def test_the_command_starts_without_what_only_single_commands_need(
    module: str, tmp_path: Path
) -> None:
    assert not _import_watched(module, folder=tmp_path).packages & (_THIRD_PARTY - {"click"})


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
    deeds = _import_watched("planted", folder=folder, root=tmp_path).deeds
    assert any(deed in seen for seen in deeds), deeds
