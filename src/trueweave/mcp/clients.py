"""The settings with which clients start `trueweave mcp`, and where they go."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

ClientName = Literal["claude-desktop", "claude-code", "cursor", "vscode", "zed", "generic"]
CLIENT_NAMES: tuple[ClientName, ...] = get_args(ClientName)

_DESKTOP = "claude_desktop_config.json"


@dataclass(frozen=True, slots=True)
class ServerLaunch:
    """How to start the server: a program, its arguments, and its environment variables."""

    command: str
    args: Sequence[str]
    env: Mapping[str, str]

    @classmethod
    def of(
        cls,
        python: str,
        settings_file: Path | None,
        workspace: str | None,
        *,
        write: bool = False,
        groups: Sequence[str] = (),
    ) -> ServerLaunch:
        """The launch with an interpreter that has Trueweave installed. Clients start programs in any folder, so the
        settings file is named. With `groups`, the agent reads what these can read."""
        named = ["--workspace", workspace] if workspace else []
        named += [argument for group in groups for argument in ("--as-group", group)]
        if write:
            named.append("--write")
        env = {"TRUEWEAVE_CONFIG": str(settings_file)} if settings_file else {}
        return cls(python, ["-m", "trueweave", "mcp", *named], env)


@dataclass(frozen=True, slots=True)
class ClientSnippet:
    """A part of a client's settings, as JSON, and a description of the file it goes into."""

    client: ClientName
    where: str
    settings: Mapping[str, object]

    @property
    def text(self) -> str:
        return json.dumps(self.settings, indent=2, ensure_ascii=False)


def snippet(client: ClientName, launch: ServerLaunch) -> ClientSnippet:
    """The settings for one client."""
    entry: dict[str, object] = {"command": launch.command, "args": list(launch.args), "env": dict(launch.env)}
    typed = {"type": "stdio", **entry}
    match client:
        case "claude-desktop":
            where = (
                f"~/Library/Application Support/Claude/{_DESKTOP} on macOS, %APPDATA%\\Claude\\{_DESKTOP} on Windows; "
                "Settings > Developer > Edit Config opens it. Restart Claude Desktop after that."
            )
            return ClientSnippet(client, where, {"mcpServers": {"trueweave": entry}})
        case "claude-code":
            where = ".mcp.json in the folder of the project in which you start claude."
            return ClientSnippet(client, where, {"mcpServers": {"trueweave": typed}})
        case "cursor":
            where = ".cursor/mcp.json in the folder of a project, or ~/.cursor/mcp.json for all of them."
            return ClientSnippet(client, where, {"mcpServers": {"trueweave": entry}})
        case "vscode":
            where = ".vscode/mcp.json in the folder of a project; `MCP: Open User Configuration` opens that for all."
            return ClientSnippet(client, where, {"servers": {"trueweave": typed}})
        case "zed":
            where = "settings.json of Zed, which `zed: open settings file` opens."
            return ClientSnippet(client, where, {"context_servers": {"trueweave": entry}})
        case "generic":
            where = "the settings of your client for servers of the Model Context Protocol over stdio."
            return ClientSnippet(client, where, {"mcpServers": {"trueweave": entry}})
