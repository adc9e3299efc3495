"""Settings: the only reader of the environment, and the only reader and writer of weft.toml."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from weft.errors import ConfigError

FILE = "weft.toml"
PREFIX = "WEFT_"
EXAMPLE_URL = "postgresql://user:password@host:5432/database"


class Settings(BaseSettings):
    """What a user may set: given by the caller, else in the environment, else in weft.toml, else the default."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True)

    database_url: str | None = Field(
        default=None,
        repr=False,  # it may hold a password
        description="The PostgreSQL database to work in. Without it, Weft runs the PostgreSQL that it brings along.",
        examples=[EXAMPLE_URL],
    )
    workspace: str = Field(
        default="default",
        min_length=1,
        description="The workspace to work in: one index among others in the same database.",
    )
    data_directory: Path | None = Field(
        default=None,
        description="The folder of the bundled PostgreSQL, from this file's folder. Without it, one for each user.",
        examples=["weft-data"],
    )

    @field_validator("database_url")
    @classmethod
    def _is_of_postgresql(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("postgresql://", "postgres://")):
            raise ValueError(f"must look like {EXAMPLE_URL}")
        return url

    @classmethod
    def load(cls, *, database_url: str | None = None, workspace: str | None = None) -> Self:
        """The settings in force here, where None leaves one to the environment and the file."""
        given = {"database_url": database_url, "workspace": workspace}
        given = {name: value for name, value in given.items() if value is not None}
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            problems = [(str(e["loc"][0]), e["msg"].removeprefix("Value error, ")) for e in error.errors()]
            raise ConfigError(
                "; ".join(f"{name}{_where(name, name in given)}: {problem}" for name, problem in problems)
            ) from error

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, InitSettingsSource(settings_cls, _read(find_file()))


def find_file() -> Path | None:
    """The weft.toml in force: the one that WEFT_CONFIG names, or the nearest in this folder and those above."""
    if named := os.environ.get(f"{PREFIX}CONFIG"):
        if not Path(named).is_file():
            raise ConfigError(
                f"{PREFIX}CONFIG names {named}, which is not there. Make that file, or unset the variable."
            )
        return Path(named).absolute()
    here = Path.cwd()
    return next((folder / FILE for folder in (here, *here.parents) if (folder / FILE).is_file()), None)


def write_file(path: Path, *, database_url: str | None = None, workspace: str | None = None) -> None:
    """Write a new weft.toml: every setting with its help, commented out where no value is given.

    Only the user may read it, as a database URL may hold a password. A file that is already there is an error.
    """
    given = {"database_url": database_url, "workspace": workspace}
    lines = [f"# Weft's settings for this folder and all below it. {PREFIX}… in the environment outweighs them."]
    for name, field in Settings.model_fields.items():
        value = given.get(name)
        mark, shown = ("", value) if value else ("# ", field.default or (field.examples or [""])[0])
        lines += ["", f"# {field.description}", f"{mark}{name} = {json.dumps(shown, ensure_ascii=False)}"]
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. Mend it, or remove it and run `weft init`.") from error
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror}. Run Weft as its owner, or name another file."
        ) from error
    known = Settings.model_fields
    if unknown := [name for name in found if name not in known]:
        raise ConfigError(f"{path} sets {', '.join(unknown)}, which Weft does not know. It knows {', '.join(known)}.")
    if isinstance(directory := found.get("data_directory"), str):
        found["data_directory"] = str(path.parent / Path(directory).expanduser())
    return found


def _where(name: str, given: bool) -> str:
    if given:
        return ""
    variable = f"{PREFIX}{name.upper()}"
    return f" (in {variable if os.environ.get(variable) else find_file()})"
