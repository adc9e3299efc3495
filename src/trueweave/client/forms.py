"""Converts between the types of Trueweave and the JSON of requests and responses."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar, cast
from uuid import UUID

from pydantic import JsonValue, TypeAdapter, ValidationError

from trueweave.core.answers import Answer, Compared, Comparison
from trueweave.core.dates import date_in
from trueweave.core.errors import ConfigError, ServerError
from trueweave.core.evidence import DocumentDetails, Evidence, Filter, Passage, Scored
from trueweave.core.graph import Entity, Rule
from trueweave.core.jobs import IngestJob
from trueweave.core.json_forms import filter_json
from trueweave.core.protocols import Verifier
from trueweave.core.record import NameKey, Place, Source
from trueweave.retrieval.context import Method

T = TypeVar("T")


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("Any", kind))


def read(kind: type[T], data: Any) -> T:
    """A response as this type. Raises ServerError if it does not fit."""
    try:
        found: T = _adapter(cast("Hashable", kind)).validate_python(data)
    except ValidationError as error:
        raise _unreadable(getattr(kind, "__name__", str(kind)), error) from error
    return found


def read_or_none(kind: type[T], data: Any) -> T | None:
    """The same for a response that may be null."""
    return None if data is None else read(kind, data)


def part(data: Any, name: Hashable) -> Any:
    """One field of a response. Raises ServerError if it is missing."""
    try:
        return data[name]
    except (KeyError, TypeError, IndexError) as error:
        raise _unreadable(str(name), error) from error


def _unreadable(what: str, error: Exception) -> ServerError:
    problem = str(error.errors()[0]["msg"]) if isinstance(error, ValidationError) else "it is missing"
    return ServerError(
        f"the server's answer cannot be read as {what}: {problem}. Check that the versions of client and server go "
        "together."
    )


# --- responses ----------------------------------------------------------------------------------------


def evidence(data: Any) -> Evidence:
    """Evidence with its trace."""
    return read(Evidence, {**part(data, "evidence"), "trace": part(data, "trace")})


def answer(data: Any) -> Answer:
    """An answer. It has no text if the question was for the context only."""
    found = evidence(data)
    passages = {one.id: one for one in found.passages}
    written = part(data, "answer")
    known = bool(found) if written is None else part(data, "known")
    cited = [{**one, "passage": part(passages, read(UUID, part(one, "passage")))} for one in part(data, "citations")]
    return read(Answer, {**data, "text": written or "", "known": known, "citations": cited, "evidence": found})


def comparison(data: Any) -> Comparison:
    """A comparison of methods."""
    return Comparison(part(data, "question"), tuple(_compared(one, data) for one in part(data, "methods")))


def _compared(row: Any, data: Any) -> Compared:
    if row.get("problem"):
        return Compared(part(row, "method"), Evidence(), problem=row["problem"])
    if row.get("answer") is None:
        return Compared(part(row, "method"), evidence(row))
    answered = answer({**row, "question": data["question"]})
    return Compared(part(row, "method"), answered.evidence, answered)


def document_details(data: Any) -> DocumentDetails:
    """A document with some of its chunks."""
    uri, title = part(data, "uri"), part(data, "title")
    passages = tuple(
        Passage(
            id=read(UUID, part(one, "id")),
            uri=uri,
            title=title,
            text=part(one, "text"),
            start=part(one, "start"),
            score=0.0,
            page=part(one, "page"),
            headings=tuple(part(one, "headings")),
            places=read(tuple[Place, ...], part(one, "places")),
            date=date_in(data["metadata"]),
        )
        for one in part(data, "spans")
    )
    entities = tuple(Scored(read(Entity, part(one, "entity")), part(one, "mentions")) for one in data["entities"])
    added = read(datetime, part(data, "added"))
    return DocumentDetails(
        uri,
        title,
        data["metadata"],
        added,
        tuple(data["notes"]),
        part(data, "chunks"),
        passages,
        entities,
        tuple(part(data, "readers")),
    )


def job(data: Any) -> IngestJob:
    """A job."""
    return read(IngestJob, data)


def rule(data: Any) -> Rule:
    """A rule."""
    return read(Rule, data)


# --- requests -----------------------------------------------------------------------------------------


def entity_name(given: UUID | str | NameKey) -> str:
    """An entity as the server's paths take it: its id, or NAME::TYPE."""
    if isinstance(given, UUID):
        return str(given)
    return (NameKey(given) if isinstance(given, str) else given).typed


def name_body(name: NameKey) -> dict[str, str]:
    """A name in a body."""
    return {"name": name.name, "type": name.type}


def filter_body(wanted: Filter | None) -> dict[str, Any]:
    """A filter in a body."""
    return filter_json(wanted) if wanted else {}


def filter_text(wanted: Filter | None) -> str | None:
    """A filter in a query."""
    return _adapter(JsonValue).dump_json(filter_body(wanted)).decode() if wanted else None


def moment(given: datetime | None) -> str | None:
    """A time in a query. Without a time zone it is taken as UTC."""
    if given is None:
        return None
    return (given if given.tzinfo else given.replace(tzinfo=UTC)).isoformat()


def method_body(method: str | Method | None) -> dict[str, Any]:
    """A method by name, with the parameters that differ from their defaults."""
    if method is None or isinstance(method, str):
        return {} if method is None else {"method": method}
    from trueweave.retrieval.methods import registry

    try:
        return {"method": registry.name_of(method), "parameters": registry.parameters_of(method)}
    except TypeError as error:
        raise ConfigError(
            f"the method {type(method).__name__} cannot be sent to a server: {error}. Name one that the server has, "
            "with parameters that JSON can hold."
        ) from error


def verifier_names(verifiers: Sequence[str | Verifier] | None) -> list[str] | None:
    """Verifiers by name. Raises ConfigError for a verifier object, which the server does not have."""
    if verifiers is None:
        return None
    if own := [one for one in verifiers if not isinstance(one, str)]:
        raise ConfigError(
            f"the verifier {type(own[0]).__name__} cannot be sent to a server. Name one that the server has: rules or "
            "llm."
        )
    return [one for one in verifiers if isinstance(one, str)]


def source_body(source: Source) -> dict[str, Any]:
    """A document as text."""
    body: dict[str, Any] = {"uri": source.uri, "text": source.text}
    if source.title:
        body["title"] = source.title
    if source.metadata:
        body["metadata"] = dict(source.metadata)
    if source.places:
        names = ("start", "kind", "label", "level", "offset")
        body["places"] = [{name: getattr(one, name) for name in names} for one in source.places]
    if source.notes:
        body["notes"] = list(source.notes)
    if source.readers is not None:
        body["readers"] = list(source.readers)
    return body
