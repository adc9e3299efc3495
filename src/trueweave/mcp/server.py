"""The server: tools, resources and prompts of the protocol, each request answered from the workspace of its caller."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial, wraps
from importlib.metadata import version
from typing import Any, TypeVar

import mcp_types as protocol
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from trueweave.core.errors import ConfigError, InvalidArgument, TrueweaveError, UnknownDocument
from trueweave.mcp.arguments import RememberArguments
from trueweave.mcp.guide import INSTRUCTIONS, RESEARCH, research
from trueweave.mcp.opening import Opening, Writing
from trueweave.mcp.resources import TEMPLATE, list_resources, read_resource
from trueweave.mcp.tools import TOOLS, failed

_log = logging.getLogger(__name__)

_BY_NAME = {tool.name: tool for tool in TOOLS}

_Context = ServerRequestContext[Any, Any]
_Paginated = protocol.PaginatedRequestParams | None
P = TypeVar("P")
R = TypeVar("R")


def server(
    opening: Opening, told: Callable[[TrueweaveError], str] = str, writing: Writing | None = None
) -> Server[Any]:
    """A server that answers each request from the workspace that `opening` opens for it. `told` gives the text that a
    caller sees of an error. Without `writing`, nobody can change anything."""
    guarded = partial(_guarding, told)

    def may_write(request: Any) -> bool:
        return writing is not None and writing.allows(request)

    @guarded
    async def list_tools(context: _Context, _: _Paginated) -> protocol.ListToolsResult:
        async with opening(context.request) as trueweave:
            can_ask = trueweave.has_model
        can_write = may_write(context.request)
        usable = (tool for tool in TOOLS if (can_ask or not tool.asks_model) and (can_write or not tool.writes))
        return protocol.ListToolsResult(tools=[tool.listed for tool in usable])

    @guarded
    async def call_tool(context: _Context, params: protocol.CallToolRequestParams) -> protocol.CallToolResult:
        tool = _BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"there is no such tool. Available: {', '.join(_BY_NAME)}.")
        try:
            arguments, request = tool.read(params.arguments or {}), context.request
            if tool.writes and not may_write(request):
                raise InvalidArgument(f"{tool.name} changes the workspace, which you may only read.")
            if writing and isinstance(arguments, RememberArguments):
                arguments = arguments.model_copy(update={"by": writing.author(request, arguments.by)})
            async with writing.open(request) if writing and tool.writes else opening(request) as trueweave:
                return await tool.call(trueweave, arguments)
        except TrueweaveError as error:
            return failed(error, told(error))

    @guarded
    async def resources(
        context: _Context, params: protocol.PaginatedRequestParams | None
    ) -> protocol.ListResourcesResult:
        async with opening(context.request) as trueweave:
            return await list_resources(trueweave, (params and params.cursor) or "")

    @guarded
    async def templates(_: _Context, __: _Paginated) -> protocol.ListResourceTemplatesResult:
        return protocol.ListResourceTemplatesResult(resource_templates=[TEMPLATE])

    @guarded
    async def resource(context: _Context, params: protocol.ReadResourceRequestParams) -> protocol.ReadResourceResult:
        async with opening(context.request) as trueweave:
            return await read_resource(trueweave, str(params.uri))

    @guarded
    async def prompts(_: _Context, __: _Paginated) -> protocol.ListPromptsResult:
        return protocol.ListPromptsResult(prompts=[RESEARCH])

    @guarded
    async def prompt(context: _Context, params: protocol.GetPromptRequestParams) -> protocol.GetPromptResult:
        if params.name != RESEARCH.name:
            raise MCPError(INVALID_PARAMS, f"there is no such prompt. There is {RESEARCH.name}.")
        async with opening(context.request) as trueweave:
            can_ask = trueweave.has_model
        return research((params.arguments or {}).get("question", ""), can_ask=can_ask)

    return Server(
        "trueweave",
        version=version("trueweave"),
        title="Trueweave",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=_input_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=resources,
        on_list_resource_templates=templates,
        on_read_resource=resource,
        on_list_prompts=prompts,
        on_get_prompt=prompt,
    )


def _input_schema(tool: str) -> dict[str, Any] | None:
    known = _BY_NAME.get(tool)
    return known.listed.input_schema if known else None


def _guarding(
    told: Callable[[TrueweaveError], str], handle: Callable[[_Context, P], Awaitable[R]]
) -> Callable[[_Context, P], Awaitable[R]]:
    """Wrap a handler so that clients only see the text of Trueweave's errors: the package would send any text."""

    @wraps(handle)
    async def handling(context: _Context, params: P) -> R:
        try:
            return await handle(context, params)
        except MCPError:
            raise
        except TrueweaveError as error:
            is_callers = isinstance(error, ConfigError | UnknownDocument)
            raise MCPError(INVALID_PARAMS if is_callers else INTERNAL_ERROR, told(error)) from error
        except Exception as error:
            _log.exception("%s failed", context.method)
            raise MCPError(
                INTERNAL_ERROR, "Trueweave failed because of a bug. Details are in the log of the server."
            ) from error

    return handling
