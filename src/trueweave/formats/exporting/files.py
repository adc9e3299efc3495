"""Writing files atomically."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

Pieces = AsyncGenerator[str, None]


async def write_text(path: Path, pieces: Pieces) -> None:
    """Write a text file, piece by piece."""
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as opened:
        async with aclosing(pieces):
            async for piece in pieces:
                opened.write(piece)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path to write to. At the end it replaces the file; if anything fails, it is removed."""
    partial = path.with_name(f"{path.name}.part")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def folder(path: Path) -> Iterator[None]:
    """A folder to write files to. If anything fails, it is removed, unless it existed before."""
    is_new = not path.exists()
    path.mkdir(exist_ok=True)
    is_written = False
    try:
        yield
        is_written = True
    finally:
        if is_new and not is_written:
            path.rmdir()
