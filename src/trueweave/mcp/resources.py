"""Documents as resources: a list, page by page, and the text of each."""

from __future__ import annotations

from urllib.parse import quote, unquote

import mcp_types as protocol

from trueweave.core.errors import InvalidArgument
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.mcp.documents import document_page, document_text
from trueweave.mcp.marking import marked
from trueweave.text.names import storable

_BEGINNING = "trueweave://documents/"
_PLAIN = "text/plain"
_AT_ONCE = 50

TEMPLATE = protocol.ResourceTemplate(
    name="document",
    title="A document",
    uri_template=f"{_BEGINNING}{{uri}}",
    description="The text of a document from its beginning. {uri} is the document's uri, percent-encoded.",
    mime_type=_PLAIN,
)


def resource_uri(uri: str) -> str:
    """The uri of the resource for a document."""
    return f"{_BEGINNING}{quote(uri, safe='')}"


async def list_resources(trueweave: AsyncTrueweave, cursor: str) -> protocol.ListResourcesResult:
    """A page of documents as resources."""
    page = await document_page(trueweave, cursor, _AT_ONCE)
    listed = [
        protocol.Resource(name=title or one.uri, title=title or one.uri, uri=resource_uri(one.uri), mime_type=_PLAIN)
        for one, title in page.documents
    ]
    return protocol.ListResourcesResult(resources=listed, next_cursor=page.next_cursor or None)


async def read_resource(trueweave: AsyncTrueweave, resource: str) -> protocol.ReadResourceResult:
    """The text of the document behind a resource, marked as data."""
    text, cursor = await document_text(trueweave, _document_uri(resource))
    more = f"It goes on: the tool `document` reads on, with the uri of the document and the cursor {cursor}"
    told = marked("The text of a document.", [text], more if cursor else "")
    return protocol.ReadResourceResult(
        contents=[protocol.TextResourceContents(uri=resource, mime_type=_PLAIN, text=told)]
    )


def _document_uri(resource: str) -> str:
    try:
        uri = unquote(resource.removeprefix(_BEGINNING), errors="strict")
    except UnicodeDecodeError:
        uri = ""
    if not resource.startswith(_BEGINNING) or not uri or storable(uri) != uri:
        raise InvalidArgument(
            f"this is not a resource of Trueweave. Its uri starts with {_BEGINNING}, followed by the "
            "percent-encoded uri of a document."
        )
    return uri
