"""The format of a model's findings: the schema in the prompt, and the types that replies are parsed into."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from trueweave.models.json_reply import Figure, Lenient
from trueweave.models.prompts import object_schema

Words = Annotated[Sequence[str], BeforeValidator(lambda v: re.split(r"[,;]", v) if isinstance(v, str) else v)]


class EntityReply(Lenient):
    name: str
    type: str = ""
    description: str = ""
    emphasis: Figure | None = None


class RelationReply(Lenient):
    source: str
    target: str
    description: str = ""
    type: str = ""
    keywords: Words = ()
    strength: Figure | None = None
    emphasis: Figure | None = None


class Findings(Lenient):
    """The findings of one reply. Numbers are as the model wrote them, in range or not."""

    entities: Sequence[EntityReply] = ()
    relations: Sequence[RelationReply] = ()

    @model_validator(mode="after")
    def _is_of_findings(self) -> Findings:
        if not self.model_fields_set:
            raise ValueError('it has neither "entities" nor "relations"')
        return self


def schema(types: Sequence[str], relation_types: Sequence[str] = ()) -> str:
    """The JSON schema of a reply, as JSON. Relations have a type if relation types are set."""
    text, figure = {"type": "string"}, {"type": "integer"}
    entity = {"name": text, "type": {"type": "string", "enum": list(types)}, "description": text, "emphasis": figure}
    words = {"type": "array", "items": text}
    relation: dict[str, Any] = {"source": text, "target": text, "description": text, "keywords": words}
    relation |= {"strength": figure, "emphasis": figure}
    if relation_types:
        relation["type"] = {"type": "string", "enum": list(relation_types)}
    lists = {"entities": entity, "relations": relation}
    arrays = {name: {"type": "array", "items": object_schema(item)} for name, item in lists.items()}
    return json.dumps(object_schema(arrays))
