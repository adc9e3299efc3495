"""Daily limits on the model usage of each caller, across all servers.

The limit is checked before each model call, and a call is counted when it ends, so callers may exceed the limit by the
calls they have in progress.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from decimal import Decimal

from trueweave.core.errors import KeyLimitReached, PriceUnknown, TrueweaveError
from trueweave.core.model_calls import Call
from trueweave.core.money import money
from trueweave.core.settings import Settings
from trueweave.core.telemetry.caller_usage import metered
from trueweave.store.postgres.access.api_keys import NO_LIMITS, KeyLimits
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.money import caller_usage
from trueweave.store.postgres.public_errors import translated

_log = logging.getLogger(__name__)


class DailyLimits:
    """The daily limits of all callers. Those in the settings apply to each caller; its own can only be lower."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._for_all = KeyLimits(settings.key_tokens_per_day, settings.key_spend_per_day)
        self._currency = settings.currency

    def of(self, own: KeyLimits) -> KeyLimits:
        """The limits that apply to a caller with these limits of its own."""
        return own.lowered_to(self._for_all)

    def request(self, counted: Mapping[str, KeyLimits]) -> AbstractAsyncContextManager[None]:
        """Count the model usage of one request for its caller and for the creators of its key, each with its own
        limits. Nothing is counted if there is no limit."""
        limits = {caller: self.of(own) for caller, own in counted.items()}
        if all(one == NO_LIMITS for one in limits.values()):
            return nullcontext()
        return _counted(_RequestMeter(self._database, limits, self._currency))


@asynccontextmanager
async def _counted(meter: _RequestMeter) -> AsyncIterator[None]:
    try:
        with metered(meter):
            yield
    finally:
        await meter.close()


class _RequestMeter:
    """Counts one request. Before each model call, it saves the usage of the calls before it, and compares the limits
    with the usage of all requests of the caller."""

    def __init__(self, database: Database, limits: Mapping[str, KeyLimits], currency: str) -> None:
        self._database = database
        self._limits = limits
        self._currency = currency
        self._tokens, self._price = 0, Decimal(0)

    async def admit(self, call: Call) -> None:
        if call.price is None and any(one.spend_per_day is not None for one in self._limits.values()):
            raise PriceUnknown(
                f"the caller has a limit in money, and the price of {call.model} is not known. Set it under [prices] "
                "in trueweave.toml, or give the limit in tokens."
            )
        await self._write()
        with translated():
            used = await caller_usage.today(self._database, self._limits)
        for caller, (tokens, spend) in self._limits.items():
            if tokens is not None and used[caller].tokens >= tokens:
                told = f"The {tokens:,} tokens that this caller has for a day are used."
                raise KeyLimitReached(told, used[caller].left_seconds)
            if spend is not None and used[caller].price >= spend:
                told = f"The {money(spend, self._currency)} that this caller has for a day are spent."
                raise KeyLimitReached(told, used[caller].left_seconds)

    def add(self, tokens: int, price: Decimal | None) -> None:
        self._tokens += tokens
        self._price += price or 0

    async def close(self) -> None:
        """Save the remaining usage, or log that it could not be saved."""
        try:
            await self._write()
        except TrueweaveError as error:
            _log.error(
                "%d tokens of %s are not counted: %s",
                self._tokens,
                caller := next(iter(self._limits)),
                error,
                extra={"event": "usage.lost", "caller": caller},
            )

    async def _write(self) -> None:
        """Save the usage since the last save. Concurrent calls each save their own part."""
        tokens, price = self._tokens, self._price
        if not tokens and not price:
            return
        self._tokens, self._price = 0, Decimal(0)
        try:
            with translated():
                await caller_usage.add(self._database, self._limits, tokens, price)
        except BaseException:
            self.add(tokens, price)
            raise
