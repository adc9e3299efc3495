"""Which names are one thing: rules, suggestions and the resolution of names."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from trueweave.core.errors import RuleError
from trueweave.core.graph import Rule, Suggestion
from trueweave.core.record import Chunk, Document, Link, Mention, NameKey, ResolutionSettings
from trueweave.engine.core import OpenWorkspace
from trueweave.formats.importing.statements import of_entity, of_relation
from trueweave.graph.contribution import contribution
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.record import record, resolution, suggestions
from trueweave.text.tokens import count

_SUGGESTIONS_AT_ONCE = 1000


@own_errors
class AsyncRulesGroup:
    """The rules of a workspace: `trueweave.rules`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    # With an `id` of the caller's, making the same rule twice is making it once. `by` says who makes it.

    async def merge(self, *names: NameKey, by: str = "", id: UUID | None = None) -> Rule:
        """Let these names be one entity from now on, whatever documents come."""
        return await self._make(Rule(id or uuid4(), "merge", names, by=by))

    async def split(self, *names: NameKey, by: str = "", id: UUID | None = None) -> Rule:
        """Let these names be an entity of their own, apart from all that they are alike to."""
        return await self._make(Rule(id or uuid4(), "split", names, by=by))

    async def rename(self, name: NameKey, label: str, *, by: str = "", id: UUID | None = None) -> Rule:
        """Let the entity of this name be called `label`."""
        return await self._make(Rule(id or uuid4(), "rename", (name,), label, by=by))

    async def retype(
        self, name: NameKey, type: str, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Let the entity of this name be of this type; or with a `target`, the relation from it to that one."""
        return await self._make(Rule(id or uuid4(), "retype", (name,), type, target, by))

    async def describe(
        self, name: NameKey, text: str, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Let this be the description of the entity of this name, in place of what documents say; or with a `target`,
        of the relation from it to that one."""
        return await self._make(Rule(id or uuid4(), "describe", (name,), text, target, by))

    async def suppress(
        self, name: NameKey, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Let there be no entity of this name, and no relation from or to it; or with a `target`, no relation from it
        to that one. No fact about it reaches an answer, a report or a copy in another store. Texts keep its words."""
        return await self._make(Rule(id or uuid4(), "suppress", (name,), "", target, by))

    async def add(self, fact: Mention | Link, *, by: str = "", id: UUID | None = None) -> Rule:
        """Add an entity or a relation that no document tells of. It is stated in a document of its own, which answers
        can cite."""
        made = id or uuid4()
        stated = of_entity(fact) if isinstance(fact, Mention) else of_relation(fact, next(iter(fact.keywords), ""))
        chunk = Chunk(stated.text, 0, count(stated.text), stated.mentions, stated.links)
        document = Document(resolution.fact_uri(made), (chunk,), "Added by hand", {"added_by": by} if by else {})
        stored = await record.store(self._core.workspace, [contribution(document)])
        await resolution.find_alike(self._core.workspace, stored.names)
        await self._core.settle()
        async with self._core.workspace.transaction() as tx:
            [rule] = await resolution.added_facts(tx, made)
        return rule

    async def _make(self, rule: Rule) -> Rule:
        rule = await resolution.add_rule(self._core.workspace, rule)
        await self._core.settle()
        return rule

    async def undo(self, rule: UUID) -> None:
        """Take a rule back, as if it had never been made."""
        workspace = self._core.workspace
        undone = await resolution.undo_rule(workspace, rule)
        if not undone and not await record.withdraw(workspace, [resolution.fact_uri(rule)]):
            raise RuleError(f"there is no rule {rule} in this workspace; `trueweave rules list` shows those there are")
        await self._core.settle()

    async def all(self) -> list[Rule]:
        """All rules, in the order in which they were made, and facts that were added after them."""
        async with self._core.workspace.transaction() as tx:
            return [*await resolution.rules(tx), *await resolution.added_facts(tx)]

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
