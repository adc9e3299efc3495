"""What callers of a server may have sources use: connectors and environment variables, by workspace."""

from __future__ import annotations

from collections.abc import Mapping

from trueweave.core.errors import SourceNotAllowed
from trueweave.core.settings import Settings
from trueweave.ingest.connectors import scheme_of

_ALL = "*"


def check_allowed(settings: Settings, workspace: str, address: str, secrets: Mapping[str, str]) -> None:
    """SourceNotAllowed if the administrator does not allow the connector of an address, or one of these environment
    variables, in the workspace of that name."""
    scheme = scheme_of(address)
    if scheme not in _allowed(settings.source_connectors, workspace):
        raise SourceNotAllowed(
            f"sources with {scheme}:// addresses are not allowed in the workspace {workspace}: the setting "
            f"source_connectors does not have {scheme} for it."
        )
    for variable in sorted({*secrets.values()}):
        if variable not in _allowed(settings.source_variables, workspace):
            raise SourceNotAllowed(
                f"sources may not use the environment variable {variable} in the workspace {workspace}: the setting "
                "source_variables does not have it for that workspace."
            )


def _allowed(setting: Mapping[str, tuple[str, ...]], workspace: str) -> set[str]:
    return {*setting.get(_ALL, ()), *setting.get(workspace, ())}
