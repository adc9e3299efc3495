"""Which names are one thing: rules, suggestions and the resolution of names."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from trueweave.engine.core import OpenWorkspace
from trueweave.store.postgres import resolution, suggestions
from trueweave.store.postgres.public_errors import own_errors
from trueweave.types import NameKey, ResolutionSettings, Rule, RuleKind, Suggestion

_SUGGESTIONS_AT_ONCE = 1000


@own_errors
class AsyncRulesGroup:
    """The rules of a workspace: `trueweave.rules`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def merge(self, *names: NameKey, id: UUID | None = None) -> Rule:
        """Let these names be one entity from now on, whatever documents come."""
        return await self._add_rule("merge", names, id=id)

    async def split(self, *names: NameKey, id: UUID | None = None) -> Rule:
        """Let these names be an entity of their own, apart from all that they are alike to."""
        return await self._add_rule("split", names, id=id)

    async def rename(self, name: NameKey, label: str, id: UUID | None = None) -> Rule:
        """Let the entity of this name be called `label`."""
        return await self._add_rule("rename", (name,), label, id)

    async def _add_rule(
        self, kind: RuleKind, names: Sequence[NameKey], label: str = "", id: UUID | None = None
    ) -> Rule:
        rule = await resolution.add_rule(self._core.workspace, kind, names, label, id)
        await self._core.settle()
        return rule

    async def undo(self, rule: UUID) -> None:
        """Take a rule back."""
        await resolution.undo_rule(self._core.workspace, rule)
        await self._core.settle()

    async def all(self) -> list[Rule]:
        """All rules, in the order in which they were laid down."""
        async with self._core.workspace.transaction() as tx:
            return await resolution.rules(tx)

    async def suggestions(
        self, threshold: int | None = None, *, limit: int = 20, rejected: bool = False
    ) -> list[Suggestion]:
        """Names that may be one thing, with passages of both: pairs more alike than the threshold (that of the
        resolution, if none is given) which are two entities and on which nobody has decided, the most alike first; or
        else those that were `rejected`."""
        return await suggestions.suggest(self._core.workspace, threshold, limit, rejected=rejected)

    async def accept(self, *which: UUID | str | int) -> list[Rule]:
        """Merge the names of these suggestions, given by id (or how it begins) or by number in the last list."""
        rules = await suggestions.accept(self._core.workspace, list(map(str, which)))
        await self._core.settle()
        return rules

    async def accept_above(self, threshold: int) -> list[Rule]:
        """Merge all names that are more alike than this and would be suggested."""
        accepted: list[Rule] = []
        while found := await self.suggestions(threshold, limit=_SUGGESTIONS_AT_ONCE):
            accepted += await self.accept(*(one.id for one in found))
        return accepted

    async def reject(self, *which: UUID | str | int) -> list[tuple[NameKey, NameKey]]:
        """Suggest none of these pairs of names again."""
        return await suggestions.reject(self._core.workspace, list(map(str, which)))

    async def mentioned(self, names: Sequence[NameKey]) -> dict[NameKey, tuple[NameKey, ...]]:
        """For each of these names those that some document mentions now, written just so; without a type, of any."""
        async with self._core.workspace.transaction() as tx:
            return await resolution.mentioned(tx, names)

    async def resolution(self) -> ResolutionSettings:
        """What makes two names one entity here."""
        async with self._core.workspace.transaction() as tx:
            return await resolution.settings(tx)

    async def change_resolution(self, to: ResolutionSettings) -> None:
        """Resolve all names by other settings."""
        await resolution.change_settings(self._core.workspace, to)
        await self._core.settle()
