"""Histories: the messages of a request, out of a transcript's records or a file of messages.

Example:
    >>> parse_message_file(b'[{"role":"user","content":"hello"}]').messages
    [{'role': 'user', 'content': 'hello'}]
"""

from provenance.histories.failures import HistoryError
from provenance.histories.message_files import MessageFile, MessageFileShape, parse_message_file
from provenance.histories.transcripts import History, history_of

__all__ = [
    "History",
    "HistoryError",
    "MessageFile",
    "MessageFileShape",
    "history_of",
    "parse_message_file",
]
