"""Which names are one entity: rules, suggestions and name resolution."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from trueweave.core.errors import RuleError
from trueweave.core.graph import Rule, RuleKind, RulePreview, Suggestion
from trueweave.core.record import Chunk, Document, Link, Mention, NameKey, ResolutionSettings
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.formats.importing.statements import of_entity, of_relation
from trueweave.graph.contribution import contribution
from trueweave.index.preview import preview
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.record import record, resolution, suggestions
from trueweave.text.tokens import count

_SUGGESTIONS_AT_ONCE = 1000


@own_errors
@refuse_restricted("rules")
class AsyncRulesGroup:
    """The rules of a workspace: `trueweave.rules`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    # With an `id` from the caller, making the same rule twice has the effect of making it once. `by` says who made it.

    async def merge(self, *names: NameKey, by: str = "", id: UUID | None = None) -> Rule:
        """Treat these names as one entity from now on, whatever documents are added."""
        return await self._make(Rule(id or uuid4(), "merge", names, by=by))

    async def split(self, *names: NameKey, by: str = "", id: UUID | None = None) -> Rule:
        """Treat these names as an entity of their own, apart from all similar names."""
        return await self._make(Rule(id or uuid4(), "split", names, by=by))

    async def rename(self, name: NameKey, label: str, *, by: str = "", id: UUID | None = None) -> Rule:
        """Call the entity with this name `label`."""
        return await self._make(Rule(id or uuid4(), "rename", (name,), label, by=by))

    async def retype(
        self, name: NameKey, type: str, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Set the type of the entity with this name; with a `target`, of the relation from it to the target."""
        return await self._make(Rule(id or uuid4(), "retype", (name,), type, target, by))

    async def describe(
        self, name: NameKey, text: str, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Replace the description of the entity with this name, which otherwise comes from documents; with a `target`,
        that of the relation from it to the target."""
        return await self._make(Rule(id or uuid4(), "describe", (name,), text, target, by))

    async def suppress(
        self, name: NameKey, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Remove the entity with this name and all its relations; with a `target`, only the relation from it to the
        target. No fact about it reaches an answer, a report or a copy in another store. The text of documents is
        unchanged."""
        return await self._make(Rule(id or uuid4(), "suppress", (name,), "", target, by))

    async def add(self, fact: Mention | Link, *, by: str = "", id: UUID | None = None) -> Rule:
        """Add an entity or a relation that no document mentions. It is stated in a document of its own, which answers
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
        """Undo a rule, as if it had never been made."""
        workspace = self._core.workspace
        undone = await resolution.undo_rule(workspace, rule)
        if not undone and not await record.withdraw(workspace, [resolution.fact_uri(rule)]):
            raise RuleError(f"there is no rule {rule} in this workspace; `trueweave rules list` shows those there are")
        await self._core.settle()

    async def all(self) -> list[Rule]:
        """All rules, in the order in which they were made, followed by the facts that were added."""
        async with self._core.workspace.transaction() as tx:
            return [*await resolution.rules(tx), *await resolution.added_facts(tx)]

    async def preview(
        self, kind: RuleKind, *names: NameKey, label: str = "", target: NameKey | None = None, limit: int = 20
    ) -> RulePreview:
        """What a rule would change if it were made now, with up to `limit` entities and relations. Nothing is changed.
        A fact that would be added cannot be previewed. Raises RuleError if the rule cannot be made."""
        return await preview(self._core.workspace, Rule(uuid4(), kind, names, label, target), limit)

    async def suggestions(
        self, threshold: int | None = None, *, limit: int = 20, rejected: bool = False, type: str = ""
    ) -> list[Suggestion]:
        """Names that may be one entity, with passages on both: pairs whose similarity is above the threshold (by
        default that of the resolution settings), that are two entities now and that nobody has decided on, most similar
        first; optionally only those with a name of one type. With `rejected`, the pairs that were rejected instead."""
        found = await suggestions.suggest(self._core.workspace, threshold, limit, rejected=rejected, type_=type)
        return [one for _, one in found.items]

    async def decide(
        self, one: NameKey, other: NameKey, *, same: bool, by: str = "", id: UUID | None = None
    ) -> Rule | None:
        """Decide on two names that were suggested: merge them if they are the `same` entity, by a rule that is
        returned; or else reject them, so that they are not suggested again. Raises RuleError if somebody has decided on
        them already, or no document mentions both any more."""
        rule = await suggestions.decide(self._core.workspace, one, other, (id or uuid4()) if same else None, by)
        await self._core.settle()
        return rule

    async def suggest_again(self, one: NameKey, other: NameKey) -> bool:
        """Take back that two names were rejected; returns whether they were."""
        return await suggestions.suggest_again(self._core.workspace, one, other)

    async def accept(self, *which: UUID | str | int, by: str = "") -> list[Rule]:
        """Merge the names of these suggestions, given by id (or its first characters) or by number in the last list."""
        rules = await suggestions.accept(self._core.workspace, list(map(str, which)), by)
        await self._core.settle()
        return rules

    async def accept_above(self, threshold: int) -> list[Rule]:
        """Merge all suggested names with a similarity above this threshold."""
        accepted: list[Rule] = []
        while found := await self.suggestions(threshold, limit=_SUGGESTIONS_AT_ONCE):
            accepted += await self.accept(*(one.id for one in found))
        return accepted

    async def reject(self, *which: UUID | str | int) -> list[tuple[NameKey, NameKey]]:
        """Reject these suggestions: these pairs of names are not suggested again."""
        return await suggestions.reject(self._core.workspace, list(map(str, which)))

    async def mentioned(self, names: Sequence[NameKey]) -> dict[NameKey, tuple[NameKey, ...]]:
        """For each name, the exactly matching names that documents mention now; without a type, of any type."""
        async with self._core.workspace.transaction() as tx:
            return await resolution.mentioned(tx, names)

    async def resolution(self) -> ResolutionSettings:
        """The settings that decide which names are one entity."""
        async with self._core.workspace.transaction() as tx:
            return await resolution.settings(tx)

    async def change_resolution(self, to: ResolutionSettings) -> None:
        """Change the resolution settings, and resolve all names again."""
        await resolution.change_settings(self._core.workspace, to)
        await self._core.settle()
