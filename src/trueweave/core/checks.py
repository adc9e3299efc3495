"""The result of a health check, which `trueweave doctor` and the server show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One check. `ok` is None if the result is unknown; `fix` says what to do if it is False. `limit` says what does
    not work although nothing is wrong."""

    what: str
    ok: bool | None
    detail: str
    fix: str = ""
    limit: str = ""
