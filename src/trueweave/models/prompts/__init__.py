"""Prompts: Markdown files with `{name}` where a value goes, each with a version that its text decides.

Trueweave's own are in this folder. A `PromptSet` has those, and in the place of some of them files of a user.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from trueweave.core.errors import ConfigError

ENDING = ".md"

_PLACE = re.compile(r"\{([a-z_]+)\}")
_LONGEST = 100_000  # bytes of a prompt
_MARK_BYTES = 6
_FENCE = re.compile(rf"^<<<([0-9a-f]{{{2 * _MARK_BYTES}}})$", re.MULTILINE)
# What a prompt of a user's own may leave out. All other placeholders of the built-in one must be there.
_OPTIONAL: Mapping[str, frozenset[str]] = {"extract": frozenset({"example"})}


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with places for values. Another text is another version."""

    name: str
    text: str

    @property
    def version(self) -> str:
        return hashlib.blake2b(self.text.encode(), digest_size=6).hexdigest()

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of the values that it has places for, in the order of the text."""
        return tuple(dict.fromkeys(_PLACE.findall(self.text)))

    def render(self, **values: str) -> str:
        """The prompt with each value in its place. A value is never searched for places itself."""
        places = set(self.placeholders)
        unused = values.keys() - places - _OPTIONAL.get(self.name, frozenset())
        if wrong := (places - values.keys()) | unused:
            raise ValueError(f"prompt {self.name!r} has places for {sorted(places)}; wrong about {sorted(wrong)}")
        return _PLACE.sub(lambda place: values[place[1]], self.text)


@cache
def load(name: str) -> Template:
    """The built-in prompt of this name."""
    return Template(name, (files(__name__) / f"{name}{ENDING}").read_text(encoding="utf-8").strip())


@cache
def names() -> tuple[str, ...]:
    """The names of all prompts."""
    found = (file.name for file in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(ENDING) for name in found if name.endswith(ENDING)))


@dataclass(frozen=True)
class PromptSet:
    """All prompts: the built-in ones, and in the place of some of them a user's `own`."""

    own: Mapping[str, Template] = field(default_factory=dict)

    @classmethod
    def from_folder(cls, folder: Path) -> PromptSet:
        """The prompts with those of a folder in the place of built-in ones of the same name. A ConfigError says what is
        wrong with the first file that cannot be used."""
        found = dict(read_folder(folder))
        for problem in (one for one in found.values() if isinstance(one, ConfigError)):
            raise problem
        return cls({file.stem: one for file, one in found.items() if isinstance(one, Template)})

    def load(self, name: str) -> Template:
        """The prompt of this name that is in force."""
        return self.own.get(name) or load(name)

    def versions(self, *of: str) -> dict[str, str]:
        """The versions of those of these prompts that are a user's own."""
        return {name: self.own[name].version for name in of if name in self.own}


BUILT_IN = PromptSet()


def read_folder(folder: Path) -> Iterator[tuple[Path, Template | ConfigError]]:
    """Each prompt file in a folder with the prompt, or with what is wrong with it."""
    if not folder.is_dir():
        raise ConfigError(
            f"prompt_folder names {folder}, which is no folder. Make it, as by `trueweave prompts eject extract`, or "
            "unset prompt_folder."
        )
    for file in sorted(folder.glob(f"*{ENDING}")):
        try:
            yield file, _read(file)
        except ConfigError as error:
            yield file, error


def _read(file: Path) -> Template:
    """The prompt in a file, which must be called like a built-in one and have its placeholders."""
    if file.stem not in names():
        raise ConfigError(
            f"{file}: there is no prompt {file.stem}. Rename or remove the file; prompts are {', '.join(names())}."
        )
    try:
        if file.stat().st_size > _LONGEST:
            raise ConfigError(f"{file} has more than {_LONGEST:,} bytes, which no prompt may have. Make it shorter.")
        text = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read as UTF-8 text: {error}. Fix it, or remove it.") from error
    made = Template(file.stem, text)
    if not text:
        raise ConfigError(f"{file} is empty. Write the prompt into it, or remove it to use the built-in one.")
    if problem := _wrong_placeholders(made):
        raise ConfigError(f"{file}: {problem}")
    return made


def _wrong_placeholders(own: Template) -> str:
    """What is wrong with the placeholders of a user's own prompt, and which there are; empty if nothing is."""
    known = load(own.name).placeholders
    optional = _OPTIONAL.get(own.name, frozenset())
    unknown = [name for name in own.placeholders if name not in known]
    missing = [name for name in known if name not in own.placeholders and name not in optional]
    problems = [
        *([f"it has {_shown(unknown)}, which the prompt {own.name} has no value for"] if unknown else []),
        *([f"it lacks {_shown(missing)}"] if missing else []),
    ]
    if not problems:
        return ""
    required = _shown([name for name in known if name not in optional]) or "none"
    further = _shown([name for name in known if name in optional])
    allowed = f"Its placeholders are {required}{f', and if you like {further}' if further else ''}."
    return (
        f"{', and '.join(problems)}. {allowed} `trueweave prompts show {own.name} --built-in` shows where they stand."
    )


def _shown(placeholders: list[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in placeholders)


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object, every field of which is required, as some servers take no schema otherwise."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def fence(text: str) -> str:
    """The text between two lines with one mark that does not occur in it, so that nothing in it can end it.

    Equal texts are fenced alike.
    """
    turn = 0
    while (mark := _mark(text, turn)) in text:
        turn += 1
    return f"<<<{mark}\n{text}\n{mark}>>>"


def fence_marks(text: str) -> set[str]:
    """The marks of all fences in a text."""
    return set(_FENCE.findall(text))


def _mark(text: str, turn: int) -> str:
    return hashlib.blake2b(text.encode(), digest_size=_MARK_BYTES, salt=turn.to_bytes(8, "big")).hexdigest()
