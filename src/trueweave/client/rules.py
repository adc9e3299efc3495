"""Rules, suggestions and the resolution of names, through a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from trueweave.client.forms import name_body, part, read, rule
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.graph import Rule, RuleKind, RulePreview, Suggestion
from trueweave.core.record import Link, Mention, NameKey, ResolutionSettings

_SUGGESTIONS_AT_ONCE = 200
_NAMES_AT_ONCE = 1000


class AsyncClientRules:
    """The rules of a workspace of a server: `client.rules`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

    async def merge(self, *names: NameKey, by: str = "", id: UUID | None = None) -> Rule:
        """Treat these names as one entity from now on, whatever documents are added."""
        return await self._make("merge", names, by=by, id=id)

    async def split(self, *names: NameKey, by: str = "", id: UUID | None = None) -> Rule:
        """Treat these names as an entity of their own, apart from all similar names."""
        return await self._make("split", names, by=by, id=id)

    async def rename(self, name: NameKey, label: str, *, by: str = "", id: UUID | None = None) -> Rule:
        """Call the entity with this name `label`."""
        return await self._make("rename", (name,), label=label, by=by, id=id)

    async def retype(
        self, name: NameKey, type: str, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Set the type of the entity with this name; with a `target`, of the relation from it to the target."""
        return await self._make("retype", (name,), target, label=type, by=by, id=id)

    async def describe(
        self, name: NameKey, text: str, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Replace the description of the entity with this name, which otherwise comes from documents; with a `target`,
        that of the relation from it to the target."""
        return await self._make("describe", (name,), target, label=text, by=by, id=id)

    async def suppress(
        self, name: NameKey, *, target: NameKey | None = None, by: str = "", id: UUID | None = None
    ) -> Rule:
        """Remove the entity with this name and all its relations; with a `target`, only the relation from it to the
        target. No fact about it reaches an answer, a report or a copy in another store. The text of documents is
        unchanged."""
        return await self._make("suppress", (name,), target, by=by, id=id)

    async def add(self, fact: Mention | Link, *, by: str = "", id: UUID | None = None) -> Rule:
        """Add an entity or a relation that no document mentions. It is stated in a document of its own, which answers
        can cite."""
        if isinstance(fact, Mention):
            name = NameKey(fact.name, fact.type)
            return await self._make("add", (name,), label=fact.description, emphasis=fact.emphasis, by=by, id=id)
        return await self._make(
            "add",
            (NameKey(fact.source, fact.source_type),),
            NameKey(fact.target, fact.target_type),
            label=fact.description,
            keywords=list(fact.keywords),
            strength=fact.strength,
            emphasis=fact.emphasis,
            by=by,
            id=id,
        )

    async def _make(
        self,
        kind: RuleKind,
        names: Sequence[NameKey],
        target: NameKey | None = None,
        *,
        by: str,
        id: UUID | None,
        **more: Any,
    ) -> Rule:
        body = {
            "kind": kind,
            "names": [name_body(one) for one in names],
            "target": name_body(target) if target else None,
            "by": by,
            "id": str(id) if id else None,
            **more,
        }
        return rule(await self._requests.write("/rules", body))

    async def preview(
        self, kind: RuleKind, *names: NameKey, label: str = "", target: NameKey | None = None, limit: int = 20
    ) -> RulePreview:
        """What a rule would change if it were made now, with up to `limit` entities and relations. Nothing is changed.
        A fact that would be added cannot be previewed. Raises RuleError if the rule cannot be made."""
        body = {
            "kind": kind,
            "names": [name_body(one) for one in names],
            "label": label,
            "target": name_body(target) if target else None,
            "limit": limit,
        }
        return read(RulePreview, await self._requests.ask("/rules/preview", body))

    async def decide(
        self, one: NameKey, other: NameKey, *, same: bool, by: str = "", id: UUID | None = None
    ) -> Rule | None:
        """Decide on two names that were suggested: merge them if they are the `same` entity, by a rule that is
        returned; or else reject them, so that they are not suggested again. Raises RuleError if somebody has decided on
        them already, or no document mentions both any more."""
        body = {"one": name_body(one), "other": name_body(other), "same": same, "by": by, "id": str(id) if id else None}
        made = part(await self._requests.write("/rules/suggestions/decide", body), "rule")
        return rule(made) if made else None

    async def suggest_again(self, one: NameKey, other: NameKey) -> bool:
        """Take back that two names were rejected; returns whether they were."""
        body = {"one": name_body(one), "other": name_body(other)}
        return bool(part(await self._requests.write("/rules/suggestions/again", body), "again"))

    async def accept(self, *which: UUID | str | int, by: str = "") -> list[Rule]:
        """Merge the names of these suggestions, given by id (or its first characters) or by number in the last list."""
        if not which:
            return []
        found = await self._requests.write("/rules/suggestions/accept", {"ids": [str(one) for one in which], "by": by})
        return [rule(one) for one in part(found, "rules")]

    async def accept_above(self, threshold: int) -> list[Rule]:
        """Merge all suggested names with a similarity above this threshold."""
        accepted: list[Rule] = []
        while found := await self.suggestions(threshold, limit=_SUGGESTIONS_AT_ONCE):
            accepted += await self.accept(*(one.id for one in found))
        return accepted

    async def reject(self, *which: UUID | str | int) -> list[tuple[NameKey, NameKey]]:
        """Reject these suggestions: these pairs of names are not suggested again."""
        if not which:
            return []
        found = await self._requests.write("/rules/suggestions/reject", {"ids": [str(one) for one in which]})
        return read(list[tuple[NameKey, NameKey]], part(found, "rejected"))

    async def mentioned(self, names: Sequence[NameKey]) -> dict[NameKey, tuple[NameKey, ...]]:
        """For each name, the exactly matching names that documents mention now; without a type, of any type."""
        found: dict[NameKey, tuple[NameKey, ...]] = {}
        for first in range(0, len(names), _NAMES_AT_ONCE):
            some = names[first : first + _NAMES_AT_ONCE]
            data = await self._requests.ask("/rules/mentioned", {"names": [name_body(one) for one in some]})
            found |= zip(some, read(list[tuple[NameKey, ...]], part(data, "mentioned")), strict=True)
        return found

    async def change_resolution(self, to: ResolutionSettings) -> None:
        """Change the resolution settings, and resolve all names again."""
        body = {"mode": to.mode, "threshold": to.threshold, "same": to.same}
        await self._requests.write("/rules/resolution", body, method="PUT")

    # --- written by `make sync` from engine/rules.py and the server's routes ---

    async def undo(self, rule: UUID) -> None:
        """Undo a rule, as if it had never been made."""
        await self._requests.delete(f"/rules/{rule}")

    async def all(self) -> list[Rule]:
        """All rules, in the order in which they were made, followed by the facts that were added."""
        return await self._requests.listed("/rules", Rule, None)

    async def suggestions(
        self, threshold: int | None = None, *, limit: int = 20, rejected: bool = False, type: str = ""
    ) -> list[Suggestion]:
        """Names that may be one entity, with passages on both: pairs whose similarity is above the threshold (by
        default that of the resolution settings), that are two entities now and that nobody has decided on, most similar
        first; optionally only those with a name of one type. With `rejected`, the pairs that were rejected instead."""
        return read(
            list[Suggestion],
            part(
                await self._requests.get(
                    "/rules/suggestions",
                    threshold=threshold,
                    limit=limit,
                    rejected="true" if rejected else None,
                    type=type or None,
                ),
                "suggestions",
            ),
        )

    async def resolution(self) -> ResolutionSettings:
        """The settings that decide which names are one entity."""
        return read(ResolutionSettings, await self._requests.get("/rules/resolution"))
