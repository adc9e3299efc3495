"""Extractors and chunkers of a user's own: given to a program, or brought along by a package, and made for a workspace.

What they raise and what they give is checked here, so that an error names them and not Trueweave.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trueweave.core import plugins
from trueweave.core.errors import ConfigError, PluginFailed, TrueweaveError
from trueweave.core.protocols import Chunker, Embedder, Extractor, StreamingLLM
from trueweave.core.record import Chunk, ChunkSizes, Extraction, Source
from trueweave.core.settings import Settings
from trueweave.ingest.recipe import Recipe
from trueweave.text import tokens
from trueweave.text.chunking import StructureChunker
from trueweave.text.names import key
from trueweave.text.semantic import SemanticChunker

EXTRACTORS, CHUNKERS = "trueweave.extractors", "trueweave.chunkers"
BUILT_IN_EXTRACTORS, BUILT_IN_CHUNKERS = ("llm", "nlp", "capitals"), ("structure", "semantic")
GIVEN = "given"  # the name of one that was given to a program

_ERROR_SHOWN = 500  # characters


@dataclass(frozen=True)
class IngestContext:
    """What a workspace has for an extractor or chunker that is made for it: the settings in force, the language model
    or None, and the embedding model. Calls to models are limited, cached and paid from the workspace's budget."""

    settings: Settings
    llm: StreamingLLM | None
    open_embedder: Callable[[], Awaitable[Embedder | None]]

    async def embedder(self) -> Embedder:
        """The embedding model; ConfigError where there is none."""
        found = await self.open_embedder()
        if found is None:
            raise ConfigError(
                "no embedding model is set, and documents are to be cut or read by vectors. Set embedding_model in "
                'trueweave.toml, or another chunker: chunker = "structure" needs none.'
            )
        return found


MakeExtractor = Callable[[IngestContext], Extractor]
"""Makes an extractor for a workspace: a class or a function."""
MakeChunker = Callable[[IngestContext], Chunker]
"""Makes a chunker for a workspace: a class or a function."""


@dataclass(frozen=True)
class Given:
    """What a program was given in the place of what its settings name."""

    embedder: Embedder | None = None
    extractor: Extractor | MakeExtractor | None = None
    chunker: Chunker | MakeChunker | None = None

    def outweighing(self, settings: Settings) -> Settings:
        """The settings with what was given in place of what they name."""
        names = {"extractor": self.extractor, "chunker": self.chunker}
        return settings.model_copy(update={name: GIVEN for name, one in names.items() if one is not None})


@dataclass(frozen=True)
class OwnExtractor:
    """An extractor of a user's own, checked."""

    name: str
    inner: Extractor
    fingerprint: str

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """What it finds in each chunk, in order. PluginFailed where it raises an error or does not give that."""
        what = f"the extractor {self.name}"
        found: Sequence[Extraction] = await _called(what, source, self.inner.extract(source, chunks))
        if not _are(found, Extraction) or len(found) != len(chunks):
            raise PluginFailed(
                f"{source.uri}: {what} must give one Extraction for each of {len(chunks)} chunks, in order. Mend it, "
                "and add the document again."
            )
        return found


@dataclass(frozen=True)
class OwnChunker:
    """A chunker of a user's own, checked."""

    name: str
    inner: Chunker
    fingerprint: str

    async def chunk(self, source: Source, sizes: ChunkSizes) -> Sequence[Chunk]:
        """Its chunks, with tokens where it did not count them. PluginFailed where it raises an error, or a chunk is no
        exact span of the text, or they are not in order."""
        what = f"the chunker {self.name}"
        found: Sequence[Chunk] = await _called(what, source, self.inner.chunk(source, sizes))
        if not _are(found, Chunk):
            raise PluginFailed(f"{source.uri}: {what} must give a list of chunks. Mend it, and add the document again.")
        before = -1
        for chunk in found:
            if not chunk.text.strip() or source.text[chunk.start : chunk.end] != chunk.text or chunk.start <= before:
                raise PluginFailed(
                    f"{source.uri}: the chunk of {what} that starts at {chunk.start} is blank, is not what the text "
                    "has there, or does not start after the one before. Mend it, and add the document again."
                )
            before = chunk.start
        return [chunk if chunk.tokens else replace(chunk, tokens=tokens.count(chunk.text)) for chunk in found]


class Parts:
    """The extractors and chunkers of one workspace that are not made from the recipe alone. Each is made once."""

    def __init__(self, given: Given, context: IngestContext) -> None:
        self._given = given
        self._context = context
        self._extractors: dict[str, OwnExtractor] = {}
        self._chunkers: dict[str, OwnChunker] = {}

    def fingerprinted(self, recipe: Recipe) -> Recipe:
        """The recipe with fingerprints of what it only names."""
        changes: dict[str, str] = {}
        if recipe.extractor not in BUILT_IN_EXTRACTORS:
            changes["extractor_fingerprint"] = self._extractor(recipe.extractor).fingerprint
        if recipe.chunker == "semantic":
            changes["chunk_embedding"] = self._embedding
        elif recipe.chunker not in BUILT_IN_CHUNKERS:
            changes["chunker_fingerprint"] = self._chunker(recipe.chunker).fingerprint
        return recipe.model_copy(update=changes)

    def extractor(self, recipe: Recipe) -> Extractor:
        """The user's own extractor that a recipe names; ConfigError where there is another, or none."""
        if recipe.extractor == GIVEN and self._given.extractor is None:
            raise _worked_elsewhere("extractor", EXTRACTORS)
        found = self._extractor(recipe.extractor)
        _check_same("extractor", recipe.extractor, recipe.extractor_fingerprint, found.fingerprint)
        return found

    def chunker(self, recipe: Recipe) -> Chunker:
        """The chunker that a recipe names; ConfigError where there is another, or none."""
        if recipe.chunker == "structure":
            return StructureChunker()
        if recipe.chunker == "semantic":
            if recipe.chunk_embedding != self._embedding:
                raise ConfigError(
                    f"it was added to be cut by vectors of {recipe.chunk_embedding}, and the embedding model here is "
                    f"{self._embedding}. Add it again, or set embedding_model to that one."
                )
            return SemanticChunker(self._context.embedder, recipe.chunk_embedding, recipe.break_percentile)
        if recipe.chunker == GIVEN and self._given.chunker is None:
            raise _worked_elsewhere("chunker", CHUNKERS)
        found = self._chunker(recipe.chunker)
        _check_same("chunker", recipe.chunker, recipe.chunker_fingerprint, found.fingerprint)
        return found

    @property
    def _embedding(self) -> str:
        name = self._given.embedder.model if self._given.embedder else self._context.settings.embedding_model
        if not name:
            raise ConfigError(
                "the chunker semantic needs an embedding model. Set embedding_model in trueweave.toml, or chunker = "
                '"structure", which needs none.'
            )
        return name

    def _extractor(self, name: str) -> OwnExtractor:
        if name not in self._extractors:
            inner = self._made("extractor", EXTRACTORS, BUILT_IN_EXTRACTORS, name, self._given.extractor, "extract")
            self._extractors[name] = OwnExtractor(name, inner, _fingerprint("extractor", name, inner))
        return self._extractors[name]

    def _chunker(self, name: str) -> OwnChunker:
        if name not in self._chunkers:
            inner = self._made("chunker", CHUNKERS, BUILT_IN_CHUNKERS, name, self._given.chunker, "chunk")
            self._chunkers[name] = OwnChunker(name, inner, _fingerprint("chunker", name, inner))
        return self._chunkers[name]

    def _made(self, kind: str, group: str, built_in: Sequence[str], name: str, given: Any, does: str) -> Any:
        """One of a user's own: as it was given, or made for this workspace."""
        if name != GIVEN:
            made = plugins.made(group, kind, name, built_in, self._context)
        elif given is None:
            raise ConfigError(f'{kind} = "{GIVEN}" is for one that a program is given. Set another name.')
        else:
            made = given if hasattr(given, does) and not isinstance(given, type) else given(self._context)
        if not callable(getattr(made, does, None)):
            raise ConfigError(f"the {kind} {name} has no method {does}. Give one that is a {kind.title()}.")
        return made


def _fingerprint(kind: str, name: str, made: Any) -> str:
    found = getattr(made, "fingerprint", None)
    if not isinstance(found, str) or not found:
        raise ConfigError(
            f"the {kind} {name} has no fingerprint: a text that is another one whenever it would find something else. "
            "Give it one, such as a version."
        )
    return key(kind, found).hex


def _check_same(kind: str, name: str, wanted: str, here: str) -> None:
    if wanted != here:
        raise ConfigError(
            f"it was added with another version of the {kind} {name} than this process has. Use the same for all who "
            "work in this workspace, and add it again."
        )


def _worked_elsewhere(kind: str, group: str) -> ConfigError:
    return ConfigError(
        f"it was added by a program with {'an' if kind == 'extractor' else 'a'} {kind} of its own, which no other "
        f"process has. Let that program add it while no other worker runs in this workspace; or make the {kind} an "
        f"entry point of the group {group}, install it wherever workers run, and set {kind} to its name."
    )


async def _called(what: str, source: Source, call: Awaitable[Any]) -> Any:
    try:
        return await call
    except TrueweaveError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0][:_ERROR_SHOWN]
        raise PluginFailed(
            f"{source.uri}: {what} raised {type(error).__name__}: {reason.removesuffix('.')}. Mend it, and add the "
            "document again."
        ) from error


def _are(found: Any, kind: type) -> bool:
    return isinstance(found, Sequence) and all(isinstance(one, kind) for one in found)
