"""The arguments of tools. Every field is bounded, and unknown fields are refused."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic.json_schema import WithJsonSchema

from trueweave.answering.options import AskOptions
from trueweave.core.errors import InvalidArgument
from trueweave.core.evidence import Filter
from trueweave.core.filter_text import read_filter_text
from trueweave.core.parameters import plain_fields
from trueweave.mcp import bounds
from trueweave.retrieval.methods import registry
from trueweave.text.names import storable

# Methods that call no language model, and keep as many passages as top_k says.
SEARCH_METHODS = ("fuse", "keyword", "naive", "walk", "weave")
ASK_METHODS = tuple(registry.names())


def _storable(given: str) -> str:
    if storable(given) != given:
        raise ValueError("it contains a NUL or an unpaired surrogate; remove it")
    return given


def _check_one_of(names: Sequence[str]) -> AfterValidator:
    def check(given: str) -> str:
        if given and given not in names:
            raise ValueError(f"it is one of {', '.join(names)}")
        return given

    return AfterValidator(check)


def moment(given: str) -> datetime | None:
    """A time in ISO 8601, or None if the text is empty. Raises ValueError if it is no time, or has no time zone."""
    if not given:
        return None
    found = datetime.fromisoformat(given)
    if found.tzinfo is None:
        raise ValueError("it has no time zone; add Z for UTC")
    return found


def _check_moment(given: str) -> str:
    moment(given)
    return given


def _names_schema(names: Sequence[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(names)})


_Clean = AfterValidator(_storable)
Text = Annotated[str, Field(min_length=1, max_length=bounds.LONGEST_TEXT, pattern=r"\S"), _Clean]
Uri = Annotated[str, Field(min_length=1, max_length=bounds.LONGEST_URI), _Clean]
Line = Annotated[str, Field(max_length=bounds.LONGEST_NAME), _Clean]
Moment = Annotated[str, Field(max_length=40), AfterValidator(_check_moment)]
Name = Annotated[
    str,
    Field(
        min_length=1,
        max_length=bounds.LONGEST_NAME,
        pattern=r"\S",
        description="A name, NAME::TYPE where several entities have it, or an id.",
    ),
    _Clean,
]
Uris = Annotated[
    list[Uri], Field(max_length=bounds.MOST_URIS, description="Only from the documents with these uris; else from all.")
]
FilterText = Annotated[
    str,
    Field(
        max_length=bounds.LONGEST_TEXT,
        description="Only from documents that pass this filter on their metadata and uris, as in: kind=letter and not "
        "(year<1900 or uri=drafts/**). `document` shows what metadata there is.",
    ),
    _Clean,
]
SearchMethod = Annotated[str, _check_one_of(SEARCH_METHODS), _names_schema(SEARCH_METHODS)]
AskMethod = Annotated[str, _check_one_of(ASK_METHODS), _names_schema(ASK_METHODS)]
Passages = Annotated[int, Field(ge=0, le=5, description="How many passages to quote.")]


class ToolArguments(BaseModel):
    """The arguments of a tool."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @classmethod
    def schema_for_clients(cls) -> dict[str, Any]:
        """The JSON schema, without titles and without empty defaults."""
        schema = without_titles(cls.model_json_schema())
        del schema["description"]
        for field in schema["properties"].values():
            if field.get("default") in ("", []):
                del field["default"]
        return schema


def without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema without the titles that pydantic makes from names, which cost tokens in every request."""

    def stripped(value: Any, *, names: bool = False) -> Any:
        if isinstance(value, list):
            return [stripped(one) for one in value]
        if not isinstance(value, dict):
            return value
        kept = value.items() if names else ((key, one) for key, one in value.items() if key != "title")
        return {key: stripped(one, names=not names and key in ("properties", "$defs")) for key, one in kept}

    made: dict[str, Any] = stripped(schema)
    return made


A = TypeVar("A", bound=ToolArguments)


class SearchArguments(ToolArguments):
    """The arguments of `search`."""

    text: Text = Field(description="What to look for: a question, a phrase or words.")
    limit: int = Field(default=8, ge=1, le=bounds.MOST_PASSAGES, description="How many passages.")
    method: SearchMethod = Field(
        default="",
        description="How to look, if not by meaning and words (fuse): keyword by words alone, naive by meaning alone, "
        "weave and walk along the graph, for questions whose answer is spread over documents.",
    )
    documents: Uris = []
    filter: FilterText = ""

    def passing(self) -> Filter:
        """The documents to search."""
        return passing(self.documents, self.filter)


def passing(documents: Sequence[str], filter: str) -> Filter:
    """The filter for documents by uri, and by a filter as text."""
    return Filter(tuple(documents)) & (read_filter_text(filter) if filter else Filter())


def with_parameters(options: type) -> Callable[[type[A]], type[A]]:
    """Add the plain parameters of a question that are for agents to the arguments of a tool."""

    def decorated(arguments: type[A]) -> type[A]:
        known: dict[str, Any] = {
            one.name: (
                one.type,
                Field(
                    default=one.default,
                    ge=one.parameter.least,
                    le=one.parameter.most,
                    max_length=one.parameter.longest,
                    description=one.parameter.help,
                ),
            )
            for one in plain_fields(options)
            if one.parameter.for_agents
        }
        name, doc = arguments.__name__, arguments.__doc__
        return create_model(name, __base__=arguments, __doc__=doc, __module__=arguments.__module__, **known)

    return decorated


@with_parameters(AskOptions)
class AskArguments(ToolArguments):
    """The arguments of `ask`."""

    question: Text = Field(description="One question, complete in itself.")
    method: AskMethod = Field(default="", description="How evidence is found. Leave it out to have one chosen.")
    documents: Uris = []
    filter: FilterText = ""

    def asked(self) -> AskOptions:
        """The options for the engine."""
        plain = self.model_dump(exclude={"question", "method", "documents", "filter"})
        passing_ = passing(self.documents, self.filter)
        return AskOptions(self.question, self.method or None, filter=passing_, **plain)


class EntityArguments(ToolArguments):
    """The arguments of `entity`."""

    name: Name
    relations: int = Field(default=10, ge=0, le=bounds.MOST_RELATIONS, description="How many relations to list.")
    passages: Passages = 3
    filter: FilterText = ""


class NeighboursArguments(ToolArguments):
    """The arguments of `neighbours`."""

    name: Name
    hops: int = Field(default=1, ge=1, le=3, description="How many relations to follow.")
    limit: int = Field(default=20, ge=1, le=bounds.MOST_ENTITIES, description="How many entities.")
    filter: FilterText = ""


class ConflictsArguments(ToolArguments):
    """The arguments of `conflicts`."""

    limit: int = Field(default=10, ge=1, le=bounds.MOST_ENTITIES, description="How many conflicts.")
    filter: FilterText = ""


class PathArguments(ToolArguments):
    """The arguments of `path`."""

    start: Name
    end: Name
    longest: int = Field(default=6, ge=1, le=12, description="Maximum number of relations in the path.")
    passages: Passages = 1
    filter: FilterText = ""


class ReportArguments(ToolArguments):
    """The arguments of `report`."""

    text: Annotated[str, Field(max_length=bounds.LONGEST_TEXT), _Clean] = Field(
        default="", description="What the reports should be about. Give this or an id."
    )
    id: str = Field(
        default="",
        pattern=r"^([0-9a-fA-F-]{4,36})?$",
        description="The id of a community whose report to read in full, or how it begins.",
    )
    level: int = Field(
        default=100,
        ge=0,
        le=100,
        description="With a text: the level of communities, 0 the outermost and broadest; the finest by default.",
    )
    limit: int = Field(default=3, ge=1, le=bounds.MOST_REPORTS, description="With a text: how many reports.")
    start: int = Field(
        default=0, ge=0, le=bounds.LARGEST_OFFSET, description="With an id: the character of the report to begin at."
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if bool(self.text.strip()) == bool(self.id):
            raise ValueError("give either a text or an id")
        return self


class DocumentsArguments(ToolArguments):
    """The arguments of `documents`."""

    prefix: Annotated[str, Field(max_length=bounds.LONGEST_URI), _Clean] = Field(
        default="", description="Only documents whose uri begins with this, as a folder's does."
    )
    cursor: str = Field(
        default="",
        max_length=bounds.LONGEST_CURSOR,
        description="next_cursor of the page before, with the same prefix and filter.",
    )
    limit: int = Field(default=50, ge=1, le=bounds.MOST_DOCUMENTS, description="How many documents.")
    filter: FilterText = ""


class DocumentArguments(ToolArguments):
    """The arguments of `document`."""

    uri: Uri = Field(description="The document, as search and documents name it.")
    start: int = Field(
        default=0, ge=0, le=bounds.LARGEST_OFFSET, description="The character of the document to begin at."
    )
    cursor: str = Field(
        default="", pattern=r"^(\d{1,10}:\d{1,9}:\d{1,10})?$", description="next_cursor of the call before, to read on."
    )
    length: int = Field(
        default=8_000, ge=1, le=bounds.MOST_CHARACTERS, description="How many characters of text to give at most."
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.start and self.cursor:
            raise ValueError("give either a start or a cursor")
        return self


class RememberArguments(ToolArguments):
    """The arguments of `remember`."""

    text: Annotated[str, Field(min_length=1, max_length=bounds.LONGEST_MEMORY, pattern=r"\S"), _Clean] = Field(
        description="What to remember, in sentences that can be understood on their own, with full names and dates; or "
        "the transcript of a conversation."
    )
    by: Line = Field(default="", description="Who said it.")
    source: Line = Field(default="", description="Where it comes from: a meeting, a mail, an address.")
    date: Moment = Field(default="", description="When it was said, in ISO 8601 with a time zone; now by default.")
    conversation: Line = Field(
        default="", description="The id of a conversation: its transcript replaces the one that was stored before."
    )


class RecallArguments(ToolArguments):
    """The arguments of `recall`."""

    text: Text = Field(description="What to look for: a question, a phrase or words.")
    limit: int = Field(default=8, ge=1, le=bounds.MOST_PASSAGES, description="How many passages.")
    by: Line = Field(default="", description="Only what this author told.")
    since: Moment = Field(default="", description="Only what was said since this time, in ISO 8601 with a time zone.")


class ForgetArguments(ToolArguments):
    """The arguments of `forget`."""

    uris: list[Uri] = Field(
        min_length=1,
        max_length=bounds.MOST_URIS,
        description="The uris that remember and recall give.",
    )


def cursor_after(uri: str) -> str:
    """The cursor for the documents after this one in a list."""
    return base64.urlsafe_b64encode(uri.encode()).decode()


def uri_before(cursor: str) -> str:
    """The uri of the document that a cursor continues after; empty without a cursor."""
    try:
        return _storable(base64.b64decode(cursor, altchars=b"-_", validate=True).decode())
    except (binascii.Error, ValueError) as error:
        raise InvalidArgument("this is not a cursor of a list of documents. Start again without one.") from error
