"""ETags: a response that the caller already has is not sent again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute


class TaggedRoute(APIRoute):
    """A route whose responses to GET have an ETag of their content, and become 304 if If-None-Match names it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def tagged(request: Request) -> Response:
            response = await handle(request)
            if request.method != "GET" or response.status_code != 200 or not getattr(response, "body", b""):
                return response  # a streamed response has no body yet
            tag = f'"{hashlib.sha256(response.body).hexdigest()[:32]}"'
            response.headers["ETag"] = tag
            known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
            return Response(None, 304, {"ETag": tag}) if {tag, "*"} & known else response

        return tagged
