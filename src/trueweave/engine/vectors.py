"""The vectors of entities and relations, for the methods that need them."""

from __future__ import annotations

from trueweave.core.errors import ConfigError
from trueweave.core.events import Progress, ignore, in_run, unseen
from trueweave.core.money import EmbeddingEstimate
from trueweave.core.protocols import Embedder
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.vectors import making


@own_errors
@refuse_restricted("vectors")
class AsyncVectorsGroup:
    """The vectors of entities and relations: `trueweave.vectors`. The setting graph_vectors decides whether a new
    workspace has them, and the status of a workspace says whether it does."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def estimate(self) -> EmbeddingEstimate:
        """What `make` would take. No text is sent to the model."""
        from trueweave.engine import model_settings
        from trueweave.ingest.estimate import estimate_graph_vectors

        settings = self._core.settings
        price = model_settings.price(settings, settings.embedding_model) if settings.embedding_model else None
        return await estimate_graph_vectors(self._core.workspace, await self._embedder(), price)

    async def make(self, progress: Progress = unseen) -> None:
        """Embed all entities and relations, paid from the budget, and from now on those of documents that are added.

        You can stop it at any time and run it again: finished embeddings are kept. Documents can be added and removed
        meanwhile. If another process makes them, this waits for it. `progress` is called with the number of texts just
        embedded.
        """
        embedder = await self._embedder()
        await self._core.take_space(embedder)
        await making.make(self._core.workspace, embedder, progress)

    async def drop(self) -> None:
        """Delete the vectors of entities and relations, and embed no more of them until `make` is called. Methods that
        need them raise NoGraphVectors."""
        await making.drop(self._core.workspace)

    async def _embedder(self) -> Embedder:
        with in_run(ignore, is_watched=True):
            embedder = await self._core.embedder()
        if embedder is None:
            raise ConfigError(
                "no embedding model is set, and vectors are made by one. Set embedding_model in trueweave.toml."
            )
        return embedder
