"""Prompts: Markdown files with `{name}` where a value goes, each with a version derived from its text.

Trueweave's own prompts are in this folder. A `PromptSet` has those, with a user's files replacing some of them.
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
# Placeholders that a user's own prompt may omit. All others of the built-in prompt are required.
_OPTIONAL: Mapping[str, frozenset[str]] = {"extract": frozenset({"example"})}


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with placeholders. Another text is another version."""

    name: str
    text: str

    @property
    def version(self) -> str:
        return hashlib.blake2b(self.text.encode(), digest_size=6).hexdigest()

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of its placeholders, in the order of the text."""
        return tuple(dict.fromkeys(_PLACE.findall(self.text)))

    def render(self, **values: str) -> str:
        """The prompt with all values filled in. Placeholders inside values are not replaced."""
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
    """All prompts: the built-in ones, some of them replaced by a user's `own`."""

    own: Mapping[str, Template] = field(default_factory=dict)

    @classmethod
    def from_folder(cls, folder: Path) -> PromptSet:
        """The prompts, with files in a folder replacing built-in ones of the same name. Raises ConfigError for the
        first file that cannot be used."""
        found = dict(read_folder(folder))
        for problem in (one for one in found.values() if isinstance(one, ConfigError)):
            raise problem
        return cls({file.stem: one for file, one in found.items() if isinstance(one, Template)})

    def load(self, name: str) -> Template:
        """The prompt with this name that is in effect."""
        return self.own.get(name) or load(name)

    def versions(self, *of: str) -> dict[str, str]:
        """The versions of these prompts, for those that are a user's own."""
        return {name: self.own[name].version for name in of if name in self.own}


BUILT_IN = PromptSet()


def read_folder(folder: Path) -> Iterator[tuple[Path, Template | ConfigError]]:
    """Each prompt file in a folder, with the prompt or the problem with it."""
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
    """The prompt in a file, which must have the name of a built-in one and its placeholders."""
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
    """What is wrong with the placeholders of a user's own prompt, and which ones there are; empty if nothing is."""
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
    """The JSON schema of an object whose fields are all required, as some servers accept no other schema."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def fence(text: str) -> str:
    """The text between two lines with a delimiter that does not occur in it, so that nothing in it can end it.

    Equal texts get the same fence.
    """
    turn = 0
    while (mark := _mark(text, turn)) in text:
        turn += 1
    return f"<<<{mark}\n{text}\n{mark}>>>"


def fence_marks(text: str) -> set[str]:
    """The delimiters of all fences in a text."""
    return set(_FENCE.findall(text))


def _mark(text: str, turn: int) -> str:
    return hashlib.blake2b(text.encode(), digest_size=_MARK_BYTES, salt=turn.to_bytes(8, "big")).hexdigest()
