"""How replies and vectors are stored: as bytes, under a key of everything that they depend on."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from uuid import UUID

import numpy as np

from trueweave.core.model_calls import Image, Prompt, Reply, TextRole
from trueweave.core.protocols import Embedder, Vectors
from trueweave.text.names import key


def cached_name(model: str, variant: str) -> str:
    """The name of a model in the keys of its replies. `variant` is what they depend on besides model and prompt."""
    return f"{model} {variant}" if variant else model


def prompt_key(model: str, prompt: Prompt) -> UUID:
    """The key of everything that a reply depends on. `model` is its `cached_name`."""
    said = [part for m in prompt.messages for part in (m.role, m.content, *map(_image_key, m.images))]
    return key("chat", model, f"{prompt.max_tokens} {prompt.temperature}", prompt.schema, *said)


def _image_key(image: Image) -> str:
    return f"{image.media_type} {hashlib.sha256(image.data).hexdigest()}"


def text_key(embedder: Embedder, text: str, role: TextRole) -> UUID:
    """The key of everything that a text's vector depends on."""
    return key("embedding", embedder.model, str(embedder.dimensions), role, text)


def pack_reply(reply: Reply) -> bytes:
    return json.dumps([reply.text, reply.tokens_in, reply.tokens_out, reply.finish]).encode()


def unpack_reply(stored: bytes) -> Reply:
    text, tokens_in, tokens_out, finish = json.loads(stored)
    return Reply(text, tokens_in, tokens_out, finish, price=Decimal(0), kept=True)


def pack_vector(row: Vectors) -> bytes:
    return row.astype(np.float32).tobytes()


def unpack_vector(stored: bytes) -> Vectors:
    return np.frombuffer(stored, dtype=np.float32)
