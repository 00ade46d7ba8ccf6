"""Published JSON Schemas, packaged beside this file.

Guarantees: `load_schema` gives the text of a packaged file.

Example:
    >>> "state" in SCHEMA_NAMES
    True
"""

from __future__ import annotations

from provenance.schemas.catalog import (
    SCHEMA_NAMES,
    SchemaFileError,
    UnknownSchemaError,
    load_schema,
)

__all__ = ["SCHEMA_NAMES", "SchemaFileError", "UnknownSchemaError", "load_schema"]
