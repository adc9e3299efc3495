"""A model server without a model: real HTTP on this machine, replies from a script, and faults on command.

    async with ModelServer(script) as server:
        chat = OpenAIChat(endpoint("vllm/any", url=server.url))

or as a process of its own, which can be killed: `python -m trueweave.testing.model_server --port 8123 --log
calls.jsonl`.

It speaks OpenAI's API (chat, streamed or not, embeddings, models), as much of Ollama's as Trueweave uses, and
`/rerank`. It binds 127.0.0.1 only. Vectors are those of HashEmbedder, tokens are counted by OpenAI's tables, and a text
fits a question by the words that both have, unless it is told otherwise.
"""

from trueweave.testing.model_server.faults import Fault, Trouble
from trueweave.testing.model_server.replies import ModelCall
from trueweave.testing.model_server.scripts import Asked, Ranker, Script, Unscripted, overlap, smallest, table
from trueweave.testing.model_server.server import ModelServer

__all__ = [
    "Asked",
    "Fault",
    "ModelCall",
    "ModelServer",
    "Ranker",
    "Script",
    "Trouble",
    "Unscripted",
    "overlap",
    "smallest",
    "table",
]
