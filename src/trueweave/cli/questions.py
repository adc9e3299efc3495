"""Options of a question on the command line: documents, conditions, parameters, and the conversation."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_type_hints

import typer

from trueweave.cli.render.console import say
from trueweave.cli.render.lines import warning
from trueweave.core.errors import ConfigError, UnreadableFile
from trueweave.core.parameters import PlainField, plain_fields

if TYPE_CHECKING:
    from trueweave.core.events import Event
    from trueweave.core.evidence import Filter
    from trueweave.core.model_calls import Message

Command = TypeVar("Command", bound=Callable[..., None])

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads it from stdin.")]
Documents = Annotated[
    list[str] | None,
    typer.Option(
        "--document",
        "-d",
        metavar="PATH",
        help="Search only this document, by path or uri, or all whose uri begins so: 'letters/**'. May be repeated.",
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Search only documents with this metadata; repeating a key means either value. != excludes a value. "
        "Numbers and dates can be compared, as in year>=2020, date<2024-06 or date:2024-01-01..2024-06-30.",
    ),
]
FilterText = Annotated[
    str | None,
    typer.Option(
        "--filter",
        metavar="TEXT",
        help="Search only documents that pass this filter: conditions as in --where, and uri=URI or uri='FOLDER/**', "
        "with and, or, not and brackets, as in 'kind=letter and not (year<1900 or uri=drafts/**)'.",
    ),
]
ShowEvidence = Annotated[
    bool, typer.Option("--show-evidence", help="Show what was found, its scores and sources, and how it was found.")
]


def with_parameters(*options: type) -> Callable[[Command], Command]:
    """Give a command the plain parameters of these options, which it takes as keyword arguments, before its own
    `--show-evidence`."""

    def decorated(command: Command) -> Command:
        hints = get_type_hints(command, include_extras=True)
        written = inspect.signature(command).parameters.values()
        own = [one.replace(annotation=hints[one.name]) for one in written if one.kind is not one.VAR_KEYWORD]
        added = [_parameter(one) for kind in options for one in plain_fields(kind)]
        before = next(n for n, one in enumerate(own) if one.name == "show_evidence")
        signature = inspect.Signature([*own[:before], *added, *own[before:]], return_annotation=None)
        command.__signature__ = signature  # type: ignore[attr-defined]
        return command

    return decorated


def given_parameters(given: Mapping[str, Any], options: type) -> dict[str, Any]:
    """Those of the arguments of a command that are plain parameters of these options, where they were given."""
    return {one.name: given[one.name] for one in plain_fields(options) if given[one.name] is not None}


def _parameter(one: PlainField) -> inspect.Parameter:
    flag, mark = one.name.replace("_", "-"), one.parameter
    names = f"--{flag}/--no-{flag}" if one.type == bool | None else f"--{flag}"
    option = typer.Option(names, metavar=mark.metavar, min=mark.least, max=mark.most, help=mark.help)
    kind, default = (str | None, None) if one.type is str and not one.default else (one.type, one.default)
    annotation = cast("Any", Annotated)[kind, option]
    return inspect.Parameter(one.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


class QuestionNotes:
    """A listener that prints to stderr what a question waits for, and each note once."""

    def __init__(self) -> None:
        self._noted: set[str] = set()

    def __call__(self, event: Event) -> None:
        from trueweave.core.events import Noted, Waiting

        match event:
            case Waiting(what):
                say(warning(what))
            case Noted(what) if what not in self._noted:
                self._noted.add(what)
                say(warning(what))


def read_question(given: str) -> str:
    """The question as given, or from stdin if it is `-`."""
    question = (sys.stdin.read() if given == "-" else given).strip()
    if not question:
        raise ConfigError('the question is empty. For example: trueweave ask "Who wrote the first program?"')
    return question


def read_filter(
    documents: Sequence[str] | None, where: Sequence[str] | None, text: str | None, folder: Path | None = None
) -> Filter:
    """The documents to search, all of which must hold: by uri or by the path of a file, relative to the project's
    folder; by conditions on metadata; by a filter as text.

    `year=1843` matches the number and the text, and `year>=1843` numbers and dates: users need not know the type.
    """
    from trueweave.core.conditions import read_where
    from trueweave.core.evidence import Filter
    from trueweave.core.filter_text import read_filter_text, uri_filter
    from trueweave.text.uris import Naming

    uris = [Naming(folder).uri(one) if os.path.lexists(one) else one for one in documents or ()]
    each = [uri_filter(one) for one in uris]
    exact, begun = tuple(uri for one in each for uri in one.uris), [one for one in each if not one.uris]
    wanted = read_where(where or ())
    if begun:
        wanted &= Filter(any_of=(*([Filter(exact)] if exact else ()), *begun))
    else:
        wanted = replace(wanted, uris=exact)
    return wanted & (read_filter_text(text) if text is not None else Filter())


def read_parameters(given: Sequence[str] | None) -> dict[str, str]:
    """Parameters of a method, as text."""
    return dict(map(_pair, given or ()))


def read_history(file: Path | None) -> list[Message]:
    """The conversation so far: JSON lines with role and content. A file that does not exist is an empty
    conversation."""
    if file is None or not file.exists():
        return []
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{file} cannot be read as a conversation: {error}.") from error
    return [_message(file, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def write_history(file: Path, said: Sequence[Message]) -> None:
    """Append to a conversation."""
    try:
        with file.open("a", encoding="utf-8") as conversation:
            conversation.writelines(json.dumps(asdict(message), ensure_ascii=False) + "\n" for message in said)
    except OSError as error:
        raise ConfigError(f"cannot write {file}: {error.strerror}. Give --history another file.") from error


def _message(file: Path, number: int, line: str) -> Message:
    from trueweave.core.model_calls import Message

    try:
        row = json.loads(line)
        role, content = row["role"], row["content"]
    except (ValueError, TypeError, KeyError):
        role, content = "", ""
    if role not in ("user", "assistant") or not isinstance(content, str):
        form = '{"role": "user", "content": "…"}, or "assistant"'
        raise UnreadableFile(
            f"{file}, line {number}: this is not a message of a conversation. Each line is like {form}."
        )
    return Message(role, content)


def _pair(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"{given!r} is not a parameter. Write name=value.")
    return name.strip(), value.strip()
