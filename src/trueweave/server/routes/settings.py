"""Routes for the settings of a workspace that its administrator may change.

This is an allowlist with bounds of its own. It excludes everything that would let a tenant reach beyond the workspace:
addresses that the server would call, models that it would pay for, names of variables and files, the rate of model
calls, and the limits of the workspace itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from trueweave.core.errors import ConfigError, UnknownMethod
from trueweave.core.functional import Uniqueness
from trueweave.core.record import ChunkSizes
from trueweave.core.settings import Settings
from trueweave.retrieval.methods import registry
from trueweave.server.access import Administering, Shared, WorkspaceName
from trueweave.server.fields import Line, Name
from trueweave.server.problems import RESPONSES, Refusal

router = APIRouter(prefix="/v1/workspaces/{workspace}/settings", tags=["settings"], responses=RESPONSES)


def _known(method: str) -> str:
    try:
        registry.make(method)
    except UnknownMethod as error:
        raise ValueError(str(error)) from error
    return method


Types = Annotated[dict[Name, Line], Field(max_length=100)]
Pattern = tuple[Name, Name, Name]


class TenantSettings(BaseModel):
    """A workspace's own settings. Null means none: the server's setting applies."""

    model_config = ConfigDict(extra="forbid")
    method: Annotated[Name, AfterValidator(_known)] | None = None
    repair: bool | None = None
    extractor: Literal["auto", "llm", "nlp", "capitals"] | None = None
    chunker: Literal["structure", "semantic"] | None = None
    break_percentile: Annotated[float, Field(gt=0, lt=100)] | None = None
    entity_types: Types | None = None
    relation_types: Types | None = None
    relation_patterns: Annotated[list[Pattern], Field(max_length=200)] | None = None
    functional_relations: Annotated[dict[Name, Uniqueness], Field(max_length=100)] | None = None
    strict_schema: bool | None = None
    short_names: bool | None = None
    max_gleaning: Annotated[int, Field(ge=1, le=5)] | None = None
    max_paths_per_chunk: Annotated[int, Field(ge=1, le=200)] | None = None
    min_chunk_size: Annotated[int, Field(ge=1, le=4000)] | None = None
    max_chunk_size: Annotated[int, Field(ge=16, le=4000)] | None = None
    extraction_chunk_size: Annotated[int, Field(ge=16, le=16_000)] | None = None
    chunk_overlap: Annotated[int, Field(ge=0, le=2000)] | None = None
    max_community_size: Annotated[int, Field(ge=2, le=1000)] | None = None
    report_tokens: Annotated[int, Field(ge=1000, le=32_000)] | None = None
    max_context_tokens: Annotated[int, Field(ge=256, le=100_000)] | None = None
    max_answer_tokens: Annotated[int, Field(ge=16, le=32_000)] | None = None


class SettingsBody(BaseModel):
    """The workspace's own settings, and the values in force. Settings that cannot be changed here are not shown."""

    own: dict[str, Any]
    in_force: dict[str, Any]
    described: dict[str, dict[str, JsonValue]] = Field(
        description="The JSON schema of each setting, with its description; the default is the value of the server."
    )


@router.get("")
async def get_settings(trueweave: Administering, shared: Shared) -> SettingsBody:
    """The settings of the workspace that its administrator may change."""
    return _body(trueweave.maintenance.own_settings, trueweave.settings, shared.settings)


@router.patch("")
async def change_settings(
    workspace: WorkspaceName, body: TenantSettings, trueweave: Administering, shared: Shared
) -> SettingsBody:
    """Change the given settings, and no others. Null removes one: then the server's setting applies.

    Other servers and workers follow within a minute. Existing documents stay as they are.
    """
    given = body.model_dump(mode="json", include=body.model_fields_set)
    changes = {name: value for name, value in given.items() if value is not None}
    unset = [name for name, value in given.items() if value is None]
    _check(shared.settings, trueweave.maintenance.own_settings, changes, unset)
    await trueweave.maintenance.change_settings(changes, unset)
    await shared.workspaces.forget(workspace)
    return _body(trueweave.maintenance.own_settings, trueweave.settings, shared.settings)


def _check(of_server: Settings, own: Mapping[str, Any], changes: Mapping[str, Any], unset: Collection[str]) -> None:
    """Raise Refusal if the resulting settings are invalid or contradict each other."""
    left = {name: value for name, value in {**own, **changes}.items() if name not in unset}
    try:
        found = of_server.over(left)
        ChunkSizes(found.min_chunk_size, found.max_chunk_size, found.chunk_overlap)
    except ConfigError as error:
        raise Refusal(422, "invalid_request", f"{error}.".replace("..", "."), "Change them together.") from error


def _body(own: Mapping[str, Any], in_force: Settings, of_server: Settings) -> SettingsBody:
    shown = in_force.model_dump(mode="json", include=set(TenantSettings.model_fields))
    kept = {name: own[name] for name in own if name in TenantSettings.model_fields}
    return SettingsBody(own=kept, in_force=shown, described=_described(of_server))


def _described(of_server: Settings) -> dict[str, dict[str, JsonValue]]:
    """The schema of each setting without null, which removes it; the description is that of the general setting."""
    defaults = of_server.model_dump(mode="json", include=set(TenantSettings.model_fields))
    found = {}
    for name, schema in TenantSettings.model_json_schema()["properties"].items():
        kind = next(one for one in schema["anyOf"] if one.get("type") != "null")
        about = Settings.model_fields[name].description or ""
        found[name] = {**kind, "description": about, "default": defaults[name]}
    found["method"]["enum"] = registry.names()
    return found
