"""How many values a JSON text has, counted as it arrives and before it is parsed.

A parser makes an object of each value in one step that nothing can interrupt: 16 MB of empty lists would take it
seconds, and hundreds of megabytes.
"""

from __future__ import annotations


class JsonValues:
    """Counts the commas and opening brackets outside strings: no JSON has more values than one more than these."""

    def __init__(self) -> None:
        self._count = 0
        self._rest = b""  # a backslash at the end of a block, whose meaning the next block decides
        self._inside = 0  # 1 inside a string

    def count(self, block: bytes) -> int:
        """The count with this block."""
        plain = (self._rest + block).replace(b"\\\\", b"")
        self._rest = b"\\" if plain.endswith(b"\\") else b""
        parts = plain.removesuffix(b"\\").replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[self._inside :: 2])
        self._count += outside.count(b",") + outside.count(b"[") + outside.count(b"{")
        self._inside ^= (len(parts) - 1) & 1
        return self._count
