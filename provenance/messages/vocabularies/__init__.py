"""Vocabularies that are packaged with the library: data only, with the licence each came under.

Guarantees: a file is the one that was published, byte for byte. `claude.json` is that of the npm
package `@anthropic-ai/tokenizer` 0.0.4 (Anthropic, MIT: `claude.LICENSE`); SHA-256
58dad83d85e9cd57be209172449ebfbc395df2b455c11fe8b7e5b661e6f462ad.

Example:
    >>> from pkgutil import get_data
    >>> len(get_data("provenance.messages.vocabularies", "claude.json"))
    696615
"""

__all__: list[str] = []
