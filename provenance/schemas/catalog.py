"""The JSON Schemas that are published with the package.

Guarantees: a schema is given as the text of its packaged file, so what a program reads here is what
another tool reads from the installed package. A name that is not in the list reaches no file.

Example:
    >>> '"ctxaudit.state/1"' in load_schema("state")
    True
"""

from __future__ import annotations

from pkgutil import get_data

from provenance.errors import CallerError, MachineError

__all__ = ["SCHEMA_NAMES", "SchemaFileError", "UnknownSchemaError", "load_schema"]

# A test compares the list with the files.
SCHEMA_NAMES = (
    "attestation",
    "compaction",
    "decision",
    "doctor",
    "gc",
    "lock",
    "receipt",
    "report",
    "state",
)


class UnknownSchemaError(CallerError, ValueError):
    """No schema of that name is published."""

    code = "unknown_schema"


class SchemaFileError(MachineError):
    """The packaged file of a schema cannot be read."""

    code = "schema_file"


def load_schema(name: str) -> str:
    """Give the text of a published JSON Schema.

    Args:
        name: one of `SCHEMA_NAMES`, such as `state`.

    Raises:
        UnknownSchemaError: there is none of that name.
        SchemaFileError: the installed package is incomplete.
    """
    if name not in SCHEMA_NAMES:
        raise UnknownSchemaError(
            f"schema: expected {' or '.join(SCHEMA_NAMES)}, got {str(name)[:40]!a}"
        )
    try:
        data = get_data("provenance.schemas", f"{name}.schema.json")
    except OSError as error:
        raise SchemaFileError(f"schema {name}: expected a packaged file, got none") from error
    if data is None:
        raise SchemaFileError(f"schema {name}: expected a loader that gives files, got another")
    return data.decode("utf-8")
