"""Plain text: the file is the document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from trueweave.core.record import Source
from trueweave.ingest.loading.reading import decode, is_binary, not_text, read_bytes, read_stream

_WRITING = ".txt .text .rst .adoc .asciidoc .org .tex .bib .textile .wiki .srt .vtt .log .diff .patch"
_SETTINGS = ".yaml .yml .toml .ini .cfg .conf .properties .tf .hcl"
_CODE = (
    ".py .pyi .pyx .rb .pl .pm .php .lua .r .jl .tcl .sh .bash .zsh .fish .ps1 .bat .cmd .awk .sed "
    ".c .h .cc .cpp .cxx .hpp .hh .cs .java .kt .kts .scala .groovy .gradle .go .rs .swift .m .mm .d .dart .zig .nim "
    ".js .mjs .cjs .jsx .ts .mts .tsx .vue .svelte .css .scss .less .sql .graphql .proto .cmake .mk "
    ".hs .ml .mli .fs .fsx .elm .erl .ex .exs .clj .cljs .lisp .el .scm .rkt .f .f90 .pas .ada .vb .asm .s .v .vhd .sol"
)


@dataclass(frozen=True, slots=True)
class Plain:
    """Reads text as it is: prose, source code, settings, and text files without an extension."""

    suffixes: frozenset[str] = frozenset({"", *_WRITING.split(), *_SETTINGS.split(), *_CODE.split()})

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        data = read_bytes(path)
        if not path.suffix and is_binary(data):
            raise not_text(str(path))
        text, notes = decode(data, str(path))
        yield Source(uri, text, notes=notes)


def from_stream(stream: BinaryIO, uri: str) -> Source:
    """The content of a stream, such as standard input, as one plain text document."""
    text, notes = decode(read_stream(stream, uri), uri)
    return Source(uri, text, notes=notes)
