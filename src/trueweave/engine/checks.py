"""Health checks of the database and of the models of a workspace, which `trueweave doctor` and the server show."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from trueweave.core.checks import HealthCheck
from trueweave.core.errors import ConfigError, ModelError

if TYPE_CHECKING:
    from trueweave.core.model_calls import ModelRole
    from trueweave.core.settings import Settings
    from trueweave.store.postgres.schema.health import Health
    from trueweave.store.postgres.vectors.space import Space

_OLDEST = 160000  # PostgreSQL 16
_OLDEST_VECTOR = (0, 8)
_WORDS_ALONE = "without an embedding model, passages are found by words alone"


def database_checks(found: Health) -> list[HealthCheck]:
    """The versions of PostgreSQL and pgvector."""
    is_new = found.version_number >= _OLDEST
    fix = "" if is_new else "Upgrade the server."
    return [
        HealthCheck("PostgreSQL 16 or later", is_new, found.version, fix),
        _vector(found.vector, found.vector_at_hand),
    ]


async def model_checks(settings: Settings, space: Space | None) -> AsyncIterator[HealthCheck]:
    """The models that these settings name. The language model answers one short question, and the embedding model
    embeds two words."""
    async for check in _chat(settings):
        yield check
    async for check in _embedding(settings, space):
        yield check
    for check in _spacy(settings):
        yield check


def _vector(installed: str | None, at_hand: str | None) -> HealthCheck:
    what = "pgvector 0.8 or later"
    version = installed or at_hand
    if version is None:
        return HealthCheck(
            what, False, "not installed", "Install pgvector on the database server: github.com/pgvector/pgvector"
        )
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST_VECTOR:
        return HealthCheck(what, False, version, "Upgrade it on the server, then run ALTER EXTENSION vector UPDATE.")
    return HealthCheck(what, True, version if installed else f"{version}, available to `trueweave init`")


async def _chat(settings: Settings) -> AsyncIterator[HealthCheck]:
    from trueweave.engine import model_settings
    from trueweave.models.checks import check_chat
    from trueweave.models.ollama import CONTEXT
    from trueweave.models.opening import open_chat
    from trueweave.models.options import variant

    chosen: dict[tuple[str, str], list[ModelRole]] = {}
    for name, roles in settings.chat_models.items():
        for role in roles:
            chosen.setdefault((name, variant(settings.options_for(role))), []).append(role)
    if not chosen:
        yield HealthCheck("language model", None, 'not set; for example model = "ollama/llama3.1:8b"')
    for (name, _), with_options in chosen.items():
        what = f"language model: {name}"
        try:
            where = model_settings.chat_endpoint(settings, name)
            chat = open_chat(
                where,
                context=settings.context_length or CONTEXT,
                deadline=settings.deadline,
                options=settings.options_for(with_options[0]),
            )
        except ConfigError as error:
            yield HealthCheck(what, False, "", str(error))
            continue
        if len(chosen) > 1:
            yield HealthCheck(what, True, f"for {', '.join(with_options)}")
        try:
            for check in await check_chat(chat):
                yield check
        finally:
            await chat.close()


async def _embedding(settings: Settings, space: Space | None) -> AsyncIterator[HealthCheck]:
    from trueweave.engine import model_settings
    from trueweave.models.checks import check_embedder
    from trueweave.models.onnx import OnnxEmbedder
    from trueweave.models.openai import OpenAIEmbedder

    name = settings.embedding_model
    if not name:
        detail = 'not set; for example embedding_model = "local/bge-small-en-v1.5"'
        yield HealthCheck("embedding model", None, detail, limit=_WORDS_ALONE)
        return
    if missing := _not_here(settings, name):
        yield missing
        return
    try:
        bare = await model_settings.open_embedder(settings, name)
    except (ConfigError, ModelError) as error:
        yield HealthCheck(f"embedding model: {name}", False, "", str(error))
        return
    embedder = model_settings.prefixed(settings, bare)
    try:
        for check in await check_embedder(embedder):
            yield check
    finally:
        if isinstance(bare, OpenAIEmbedder):
            await bare.close()
    if isinstance(bare, OnnxEmbedder) and settings.max_chunk_size > bare.most_tokens:
        detail = f"it reads {bare.most_tokens:,} tokens at once; chunks may have {settings.max_chunk_size:,}"
        yield HealthCheck("long chunks are embedded in parts, and averaged", None, detail)
    if space:
        is_same = space.is_of(embedder)
        fix = "" if is_same else f"Set embedding_model to {space.model} again, or run `trueweave reembed {name}`."
        detail = f"{space.dimensions} dimensions of {space.model}"
        yield HealthCheck("vectors of this workspace are of that model", is_same, detail, fix)


def _not_here(settings: Settings, name: str) -> HealthCheck | None:
    """The finding for a known model whose files are not on this machine. Nothing is downloaded here."""
    from trueweave.models import catalogue, hub

    what = f"embedding model: {name}"
    if name.startswith("demo/"):
        model = catalogue.named(name.removeprefix("demo/"))
        if hub.find(model, settings.model_folder):
            return None
        detail = f"vectors of the demo only; for other texts, run `trueweave models fetch {model.name}`"
        return HealthCheck(what, None, detail, limit="questions without a vector are answered by words alone")
    if not name.startswith("local/"):
        return None
    try:
        model = catalogue.named(name)
    except ConfigError as error:
        return HealthCheck(what, False, "", str(error))
    if hub.find(model, settings.model_folder):
        return None
    if hub.is_within_reach(model, settings.model_folder):
        detail = f"not on this machine yet; `trueweave models fetch {model.name}` downloads it"
        return HealthCheck(what, None, detail, limit=_WORDS_ALONE)
    return HealthCheck(what, False, "not on this machine", hub.by_hand(model, settings.model_folder))


def _spacy(settings: Settings) -> Iterator[HealthCheck]:
    if settings.extractor != "nlp":
        return
    there = find_spec(settings.pipeline) is not None
    fix = f'Install it: pip install "trueweave[nlp]" and python -m spacy download {settings.pipeline}; or set pipeline.'
    yield HealthCheck(f"spaCy pipeline {settings.pipeline}", there, "", "" if there else fix)
