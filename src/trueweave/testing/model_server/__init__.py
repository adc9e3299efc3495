"""A model server without a model: real HTTP on this machine, replies from a script, and faults on command.

    async with ModelServer(script) as server:
        chat = OpenAIChat(endpoint("vllm/any", url=server.url))

or as a separate process, which can be killed: `python -m trueweave.testing.model_server --port 8123 --log calls.jsonl`.

It supports OpenAI's API (chat, streamed or not, embeddings, models), the part of Ollama's that Trueweave uses, and
`/rerank`. It binds to 127.0.0.1 only. By default, vectors come from HashEmbedder, tokens are counted with OpenAI's
tables, and texts are ranked by the words that they share with the question.
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
