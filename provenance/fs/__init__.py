"""Where bytes are reached: trusted roots, safe opening, durable writing, locks, leases.

Example:
    >>> from provenance.fs import TrustedRoot
    >>> TrustedRoot("/nowhere").path.name
    'nowhere'
"""

from provenance.fs._backends import BackendName
from provenance.fs.appending import AppendFile
from provenance.fs.directory import Directory, Entry, UnsafeComponent
from provenance.fs.drafts import Draft, is_temporary_name
from provenance.fs.failures import (
    AccessRefused,
    BoundaryRefused,
    LockTimeout,
    NameTaken,
    NotARegularFile,
    ReadFailed,
    SourceAbsent,
    UnsafePlatform,
    WriteFailed,
)
from provenance.fs.guard import FolderGuard
from provenance.fs.lease import ReadLease
from provenance.fs.reading import FileFacts, OpenFile
from provenance.fs.root import TrustedRoot
from provenance.fs.whole import (
    FileTooLarge,
    SourceChanged,
    atomic_write,
    read_operator_file,
    read_whole,
)

__all__ = [
    "AccessRefused",
    "AppendFile",
    "BackendName",
    "BoundaryRefused",
    "Directory",
    "Draft",
    "Entry",
    "FileFacts",
    "FileTooLarge",
    "FolderGuard",
    "LockTimeout",
    "NameTaken",
    "NotARegularFile",
    "OpenFile",
    "ReadFailed",
    "ReadLease",
    "SourceAbsent",
    "SourceChanged",
    "TrustedRoot",
    "UnsafeComponent",
    "UnsafePlatform",
    "WriteFailed",
    "atomic_write",
    "is_temporary_name",
    "read_operator_file",
    "read_whole",
]
