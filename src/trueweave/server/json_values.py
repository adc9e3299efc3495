"""Counts the values of a JSON text as it arrives, before it is parsed.

A parser creates an object for each value and cannot be interrupted: 16 MB of empty lists would take it seconds, and
hundreds of megabytes of memory.
"""

from __future__ import annotations


class JsonValues:
    """Counts the commas and opening brackets outside strings. A JSON text has at most one value more than that."""

    def __init__(self) -> None:
        self._count = 0
        self._rest = b""  # a backslash at the end of a block, whose meaning the next block decides
        self._inside = 0  # 1 inside a string

    def count(self, block: bytes) -> int:
        """The count so far, including this block."""
        plain = (self._rest + block).replace(b"\\\\", b"")
        self._rest = b"\\" if plain.endswith(b"\\") else b""
        parts = plain.removesuffix(b"\\").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[self._inside :: 2])
        self._count += outside.count(b",") + outside.count(b"[") + outside.count(b"{")
        self._inside ^= (len(parts) - 1) & 1
        return self._count
