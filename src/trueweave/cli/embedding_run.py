"""What commands that embed a whole workspace share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.pricing import confirmed, is_paid
from trueweave.cli.render.console import say
from trueweave.cli.render.money import Allowance, embedding_estimate
from trueweave.cli.stopping import PaidRun

if TYPE_CHECKING:
    from trueweave.core.events import Progress
    from trueweave.core.money import EmbeddingEstimate
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave

EstimateOnly = Annotated[
    bool, typer.Option("--estimate", help="Show the tokens and the cost without embedding anything.")
]


class EmbeddingRun(PaidRun):
    """Texts being embedded by one call of a command. `act` embeds them, and tells how many at a time."""

    def __init__(
        self,
        settings: Settings,
        wanted: EmbeddingEstimate,
        allowance: Allowance | None,
        act: Callable[[AsyncTrueweave, Progress], Awaitable[None]],
    ) -> None:
        super().__init__(settings, allowance)
        self.wanted = wanted
        self.done = 0
        self._act = act

    async def embed(self, trueweave: AsyncTrueweave) -> None:
        from trueweave.cli.render.progress_bar import progress

        with progress("Embedding", self.wanted.texts) as advance, self.noting_errors():

            def more(texts: int) -> None:
                self.done += texts
                advance(texts)

            await self._act(trueweave, more)


def agreed(wanted: EmbeddingEstimate, settings: Settings, yes: bool) -> bool:
    """Show the cost; returns whether to continue."""
    if not wanted.texts or not is_paid(settings, [str(settings.embedding_model)]):
        return True
    say(*embedding_estimate(wanted, settings.currency))
    return confirmed(yes)
