"""Custom extractors and chunkers: passed in by a program, or provided by a package, and created per workspace.

Their errors and results are checked here, so that an error names them and not Trueweave.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trueweave.core import plugins
from trueweave.core.errors import ConfigError, PluginFailed, TrueweaveError
from trueweave.core.protocols import Chunker, Embedder, Extractor, StreamingLLM
from trueweave.core.record import Chunk, ChunkSizes, Extraction, Source
from trueweave.core.settings import Settings
from trueweave.ingest.recipe import Recipe
from trueweave.models.from_langchain import LangChainModels
from trueweave.text import tokens
from trueweave.text.chunking import StructureChunker
from trueweave.text.names import key
from trueweave.text.semantic import SemanticChunker

EXTRACTORS, CHUNKERS = "trueweave.extractors", "trueweave.chunkers"
BUILT_IN_EXTRACTORS, BUILT_IN_CHUNKERS = ("llm", "nlp", "capitals"), ("structure", "semantic")
GIVEN = "given"  # the name of an object that a program passed in

_ERROR_SHOWN = 500  # characters


@dataclass(frozen=True)
class IngestContext:
    """The context for creating an extractor or chunker of a workspace: the effective settings, the language model or
    None, and the embedding model. Model calls are limited, cached and paid from the workspace's budget."""

    settings: Settings
    llm: StreamingLLM | None
    open_embedder: Callable[[], Awaitable[Embedder | None]]

    async def embedder(self) -> Embedder:
        """The embedding model; ConfigError if there is none."""
        found = await self.open_embedder()
        if found is None:
            raise ConfigError(
                "no embedding model is set, but the chunker or extractor needs vectors. Set embedding_model in "
                'trueweave.toml, or choose another chunker: chunker = "structure" needs none.'
            )
        return found


MakeExtractor = Callable[[IngestContext], Extractor]
"""Creates an extractor for a workspace: a class or a function."""
MakeChunker = Callable[[IngestContext], Chunker]
"""Creates a chunker for a workspace: a class or a function."""


@dataclass(frozen=True)
class Given:
    """Objects that a program passed in to replace those of its settings."""

    embedder: Embedder | None = None
    extractor: Extractor | MakeExtractor | None = None
    chunker: Chunker | MakeChunker | None = None
    langchain: LangChainModels = field(default_factory=LangChainModels)

    def overriding(self, settings: Settings) -> Settings:
        """The settings, overridden by the given objects."""
        names = {"extractor": self.extractor, "chunker": self.chunker}
        return settings.model_copy(update={name: GIVEN for name, one in names.items() if one is not None})


@dataclass(frozen=True)
class OwnExtractor:
    """A custom extractor, checked."""

    name: str
    inner: Extractor
    fingerprint: str

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """Its findings for each chunk, in order. PluginFailed if it raises an error or returns something else."""
        what = f"the extractor {self.name}"
        found: Sequence[Extraction] = await _called(what, source, self.inner.extract(source, chunks))
        if not _are(found, Extraction) or len(found) != len(chunks):
            raise PluginFailed(
                f"{source.uri}: {what} must return one Extraction for each of {len(chunks)} chunks, in order. Fix "
                "it, and add the document again."
            )
        return found


@dataclass(frozen=True)
class OwnChunker:
    """A custom chunker, checked."""

    name: str
    inner: Chunker
    fingerprint: str

    async def chunk(self, source: Source, sizes: ChunkSizes) -> Sequence[Chunk]:
        """Its chunks, with token counts added if missing. PluginFailed if it raises an error, a chunk is not an exact
        span of the text, or they are out of order."""
        what = f"the chunker {self.name}"
        found: Sequence[Chunk] = await _called(what, source, self.inner.chunk(source, sizes))
        if not _are(found, Chunk):
            raise PluginFailed(
                f"{source.uri}: {what} must return a list of chunks. Fix it, and add the document again."
            )
        before = -1
        for chunk in found:
            if not chunk.text.strip() or source.text[chunk.start : chunk.end] != chunk.text or chunk.start <= before:
                raise PluginFailed(
                    f"{source.uri}: the chunk of {what} that starts at {chunk.start} is blank, differs from the "
                    "text at that position, or does not start after the previous one. Fix it, and add the document "
                    "again."
                )
            before = chunk.start
        return [chunk if chunk.tokens else replace(chunk, tokens=tokens.count(chunk.text)) for chunk in found]


class Parts:
    """The custom extractors and chunkers of one workspace. Each is created once."""

    def __init__(self, given: Given, context: IngestContext) -> None:
        self._given = given
        self._context = context
        self._extractors: dict[str, OwnExtractor] = {}
        self._chunkers: dict[str, OwnChunker] = {}

    def fingerprinted(self, recipe: Recipe) -> Recipe:
        """The recipe with the fingerprints of custom components."""
        changes: dict[str, str] = {}
        if recipe.extractor not in BUILT_IN_EXTRACTORS:
            changes["extractor_fingerprint"] = self._extractor(recipe.extractor).fingerprint
        if recipe.chunker == "semantic":
            changes["chunk_embedding"] = self._embedding
        elif recipe.chunker not in BUILT_IN_CHUNKERS:
            changes["chunker_fingerprint"] = self._chunker(recipe.chunker).fingerprint
        return recipe.model_copy(update=changes)

    def extractor(self, recipe: Recipe) -> Extractor:
        """The custom extractor that a recipe names; ConfigError if its version differs, or there is none."""
        if recipe.extractor == GIVEN and self._given.extractor is None:
            raise _worked_elsewhere("extractor", EXTRACTORS)
        found = self._extractor(recipe.extractor)
        _check_same("extractor", recipe.extractor, recipe.extractor_fingerprint, found.fingerprint)
        return found

    def chunker(self, recipe: Recipe) -> Chunker:
        """The chunker that a recipe names; ConfigError if its version differs, or there is none."""
        if recipe.chunker == "structure":
            return StructureChunker()
        if recipe.chunker == "semantic":
            if recipe.chunk_embedding != self._embedding:
                raise ConfigError(
                    f"it was added to be chunked with vectors of {recipe.chunk_embedding}, but the embedding model "
                    f"here is {self._embedding}. Add it again, or set embedding_model to that one."
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
        """A custom component: as passed in, or created for this workspace."""
        if name != GIVEN:
            made = plugins.made(group, kind, name, built_in, self._context)
        elif given is None:
            raise ConfigError(f'{kind} = "{GIVEN}" stands for an object that a program passes in. Set another name.')
        else:
            made = given if hasattr(given, does) and not isinstance(given, type) else given(self._context)
        if not callable(getattr(made, does, None)):
            raise ConfigError(f"the {kind} {name} has no method {does}. Pass a {kind.title()}.")
        return made


def _fingerprint(kind: str, name: str, made: Any) -> str:
    found = getattr(made, "fingerprint", None)
    if not isinstance(found, str) or not found:
        raise ConfigError(
            f"the {kind} {name} has no fingerprint: a text that changes whenever its results would. Add one, such "
            "as a version."
        )
    return key(kind, found).hex


def _check_same(kind: str, name: str, wanted: str, here: str) -> None:
    if wanted != here:
        raise ConfigError(
            f"it was added with another version of the {kind} {name} than this process has. Use the same version in "
            "all processes of this workspace, and add it again."
        )


def _worked_elsewhere(kind: str, group: str) -> ConfigError:
    return ConfigError(
        f"it was added by a program with its own {kind}, which no other process has. Add it with that program while "
        f"no other worker runs in this workspace; or register the {kind} as an entry point of the group {group}, "
        f"install it wherever workers run, and set {kind} to its name."
    )


async def _called(what: str, source: Source, call: Awaitable[Any]) -> Any:
    try:
        return await call
    except TrueweaveError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0][:_ERROR_SHOWN]
        raise PluginFailed(
            f"{source.uri}: {what} raised {type(error).__name__}: {reason.removesuffix('.')}. Fix it, and add the "
            "document again."
        ) from error


def _are(found: Any, kind: type) -> bool:
    return isinstance(found, Sequence) and all(isinstance(one, kind) for one in found)
