"""Compaction inside the loops of agent frameworks, with the framework's own messages.

One module a framework: `provenance.embedding.pydantic_ai`, `.langchain` and `.openai_agents`.
docs/embedding.md has an example of each, and one of a bare loop, which needs nothing from here.

Guarantees: importing this package, or one of its modules, loads no framework; what is not installed
is named, with its extra, when it is needed.

Example:
    >>> from provenance.embedding.openai_agents import compact
    >>> items = [{"role": "user", "content": "hello"}]
    >>> compact(items)[0] is items[0]
    True
"""

from provenance.embedding._extras import MissingEmbeddingExtra
from provenance.embedding._options import CompactionOptions, OnResult

__all__ = ["CompactionOptions", "MissingEmbeddingExtra", "OnResult"]
