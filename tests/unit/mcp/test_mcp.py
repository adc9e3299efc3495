"""Tools for agents: their schemas, how much they give, and what clients are told to start them by."""

import json
from pathlib import Path
from typing import Any

import pytest

from trueweave.errors import ConfigError
from trueweave.mcp.arguments import ASK_METHODS, SEARCH_METHODS, cursor_after, uri_before
from trueweave.mcp.bounds import Room
from trueweave.mcp.clients import CLIENT_NAMES, ClientName, ServerLaunch, snippet
from trueweave.mcp.guide import INSTRUCTIONS, research
from trueweave.mcp.marking import NOTICE, marked
from trueweave.mcp.tools import TOOLS, AgentTool
from trueweave.retrieval.methods import registry

LAUNCH = ServerLaunch.of("/venv/bin/python", Path("/project/trueweave.toml"), "notes")
KEYS: dict[ClientName, str] = {
    "claude-desktop": "mcpServers",
    "claude-code": "mcpServers",
    "cursor": "mcpServers",
    "vscode": "servers",
    "zed": "context_servers",
    "generic": "mcpServers",
}


@pytest.mark.parametrize("client", CLIENT_NAMES)
def test_a_client_is_told_program_arguments_and_settings_file(client: ClientName) -> None:
    made = snippet(client, LAUNCH)
    entry = json.loads(made.text)[KEYS[client]]["trueweave"]
    assert entry["command"] == "/venv/bin/python"
    assert entry["args"] == ["-m", "trueweave", "mcp", "--workspace", "notes"]
    assert entry["env"] == {"TRUEWEAVE_CONFIG": "/project/trueweave.toml"}
    assert entry.get("type") == ("stdio" if client in ("claude-code", "vscode") else None)
    assert made.where


def test_without_settings_file_and_workspace_none_is_named() -> None:
    assert ServerLaunch.of("python", None, None) == ServerLaunch("python", ["-m", "trueweave", "mcp"], {})


def test_groups_are_arguments_of_the_server() -> None:
    launch = ServerLaunch.of("python", None, None, groups=["hr", "board of directors"])
    assert launch.args[2:] == ["mcp", "--as-group", "hr", "--as-group", "board of directors"]


def bounded(schema: dict[str, Any]) -> bool:
    """Whether nothing of this schema can be of any size."""
    match schema["type"]:
        case "string":
            return "maxLength" in schema or "enum" in schema or schema.get("pattern", "").endswith(("$", "}$"))
        case "integer":
            return "minimum" in schema and "maximum" in schema
        case "array":
            return "maxItems" in schema and bounded(schema["items"])
    return False


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_what_a_tool_takes_is_bounded_and_described(tool: AgentTool[Any]) -> None:
    schema = tool.listed.input_schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert not schema.keys() & {"anyOf", "oneOf", "allOf"}, "some models take no such schema of a tool"
    for name, field in schema["properties"].items():
        assert bounded(field), (name, field)
        assert field["description"], name
        assert "title" not in field
    assert tool.listed.output_schema
    assert {"notice", "truncated", "more"} <= tool.listed.output_schema["properties"].keys()
    assert len(tool.description) < 400, "it is paid for with every request"
    assert f"`{tool.name}`" in INSTRUCTIONS


def test_methods_are_an_enum_of_those_there_are() -> None:
    by_name = {tool.name: tool.listed.input_schema["properties"] for tool in TOOLS}
    assert tuple(by_name["ask"]["method"]["enum"]) == ASK_METHODS == tuple(registry.names())
    assert tuple(by_name["search"]["method"]["enum"]) == SEARCH_METHODS
    for name in SEARCH_METHODS:
        assert registry.name_of(registry.make(name, {"top_k": 20})) == name


def test_room_is_given_until_there_is_none_left() -> None:
    room = Room(10)
    assert room.text("abcdef", 4) == "abcd"
    assert room.is_cut
    room = Room(10)
    assert (room.fits("abc", "def"), room.is_full(), room.is_cut) == (True, False, False)
    assert room.line("a\n b  cd") == "a b …", "on one line, and cut"
    assert not room.is_cut, "it is seen"
    assert (room.is_full(), room.text("more", 4), room.fits("x")) == (True, "", False)


def test_room_that_is_just_enough_cuts_nothing() -> None:
    room = Room(6)
    assert (room.text("abc", 3), room.line("d e"), room.is_cut) == ("abc", "d e", False)
    assert room.is_full()


@pytest.mark.parametrize("uri", ["a.md", "é/🎈 b", "x" * 2000])
def test_a_cursor_leads_back_to_its_uri(uri: str) -> None:
    assert uri_before(cursor_after(uri)) == uri


@pytest.mark.parametrize("cursor", ["?", "abc", "/w==", "_w==", "AA=="])
def test_what_is_no_cursor_is_told(cursor: str) -> None:
    with pytest.raises(ConfigError, match="not a cursor"):
        uri_before(cursor)


def test_the_notice_comes_before_what_is_quoted_and_only_then() -> None:
    text = marked("Told.", ["one", "two"], "More.")
    assert text.startswith(f"Told.\n\n{NOTICE}\n\n<<<")
    assert text.endswith(">>>\n\nMore.")
    assert marked("Told.") == "Told."


def test_the_prompt_takes_a_question_that_is_not_searched_for_places() -> None:
    [message] = research("What is {ask}?", can_ask=False).messages
    assert message.content.type == "text"
    assert message.content.text.endswith("The question: What is {ask}?")
    with pytest.raises(ConfigError, match="a question of 1 to"):
        research("x" * 4_001, can_ask=True)


def test_the_page_tells_of_every_tool_and_client() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "mcp.md").read_text("utf-8")
    for tool in TOOLS:
        assert f"| `{tool.name}` |" in page
    for client in CLIENT_NAMES:
        assert f"`{client}`" in page
