"""The server that browsers visit: over TLS, with a real book and its graph, and a model whose answers are written
here."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.browser import hostile
from tests.certificates import make_certificate
from tests.integration.serving import Served, serving
from tests.servers import PASSWORD, free_port
from trueweave import AsyncTrueweave, Chunk, Document, Settings
from trueweave.core.bench import BenchPassage
from trueweave.testing import HashEmbedder, ModelServer
from trueweave.testing.model_server import Asked, Script, Unscripted, smallest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import corpora

BOOK = "carol.txt"
MODELS: Mapping[str, Any] = {"model": "vllm/any", "embedding_model": "vllm/any", "model_tries": 1}

# An answer cites the words in double brackets: the model finds the passage that contains them.
PARTNERS = "Was Marley dead, and how long were Scrooge and Marley partners?"
QUOTED = "Scrooge and he were partners for I don't know how many years"
DOUBTFUL = "Scrooge always painted out Old Marley's name"
UNCITED = "They first met at school."
FOLLOW_UP, STANDS_ALONE = "And when did he die?", "When did Marley die?"
SKIN_CANCER, COMMON = "Is Basal Cell Skin Cancer common?", "most common type of skin cancer"
ANSWERS: Mapping[str, str] = {
    PARTNERS: (
        f"Marley was dead, to begin with [[Marley was dead, to begin with]]. {QUOTED} [[{QUOTED}]]. "
        f"{DOUBTFUL} [[Scrooge never painted out Old Marley's name]]. {UNCITED}"
    ),
    hostile.QUESTION: hostile.ANSWER,
    SKIN_CANCER: f"Basal cell carcinoma is the {COMMON} [[{COMMON}]].",
    STANDS_ALONE: "Marley was dead, to begin with [[Marley was dead, to begin with]].",
}
# Questions on the book, each with words of its right passage.
QUESTIONS: Mapping[str, str] = {
    "How much does the clerk of Scrooge earn in a week?": "fifteen shillings a week",
    "What did Old Fezziwig do when the clock pointed to seven?": "Old Fezziwig laid down his pen",
    "To whom did Scrooge become a second father?": "Tiny Tim, who did NOT die",
    "What was the chain of the ghost made of?": "cash-boxes, keys, padlocks",
    "Who are the boy and the girl under the robe?": "This boy is Ignorance",
    "Where did Bob run to play at blind man's-buff?": "Camden Town as hard as he could pelt",
    "What did Scrooge say of the poor?": "Are there no prisons?",
    "Whom did Scrooge recognise from the books of his childhood?": "dear old honest Ali Baba",
    "Who met at the shop where old things are sold?": "old Joe, here's a chance",
    "What was strange about the door of the house?": "nothing at all particular about the knocker",
}
REPORT = {
    "title": "People who know each other",
    "summary": "Everybody here knows everybody else.",
    "rating": 6,
    "reason": "They meet often.",
    "findings": [{"summary": "They know each other.", "text": "All of them do.", "references": "E1, E2, R1"}],
}


@dataclass(frozen=True)
class Site:
    """The server, its model, a key of an administrator, the port at which the server expects its identity provider,
    which does not run yet, and the settings of a workspace that uses the model."""

    server: Served
    model: ModelServer
    key: str
    provider: int
    models: Settings


@asynccontextmanager
async def site(url: str, bench: Path, folder: Path) -> AsyncIterator[Site]:
    """The server for a new database, with the workspaces `carol` with the book, `breaking` with a hostile document, and
    `empty`."""
    port, provider = free_port(), free_port()
    address = f"https://127.0.0.1:{port}"
    login: dict[str, Any] = {
        "public_url": address,
        "oidc_issuer": f"http://127.0.0.1:{provider}",
        "oidc_audience": address,
        "oidc_client_id": "web",
        "oidc_client_secret_variable": "LOGIN_SECRET",
    }
    certificate = make_certificate(folder)
    async with AsyncExitStack() as stack:
        stack.enter_context(patch.dict("os.environ", LOGIN_SECRET=PASSWORD))
        model = await stack.enter_async_context(ModelServer(answering(ANSWERS), embedder=HashEmbedder(dimensions=512)))
        models: dict[str, Any] = {**MODELS, "model_url": model.url, "embedding_url": model.url}
        settings = Settings(**models)
        server = await stack.enter_async_context(
            serving(url, certificate=certificate, port=port, works=True, **models, **login)
        )
        carol = await AsyncTrueweave.enter(server.database, "carol", settings=settings)
        async with aclosing(carol):
            await carol.add_documents([book(bench)])
        breaking = await AsyncTrueweave.enter(server.database, "breaking", settings=settings)
        async with aclosing(breaking):
            await breaking.add_documents([hostile.document()])
        await server.database.find_workspace("empty", make=True)
        yield Site(server, model, await server.key("admin", groups=["*"]), provider, settings)


async def add_medical(site: Site) -> None:
    """Make the workspace `medical`."""
    made = await AsyncTrueweave.enter(site.server.database, "medical", settings=site.models)
    async with aclosing(made):
        await made.add_documents(corpora.medical())


def book(bench: Path) -> Document:
    """A Christmas Carol as one document, with what GPT-4o found in each of its chunks."""
    with gzip.open(bench / "christmas_carol" / "book.txt.gz", "rt", encoding="utf-8") as file:
        text = file.read()
    chunks: list[Chunk] = []
    for found in corpora.christmas_carol():
        [chunk] = found.chunks
        after = chunks[-1].start + 1 if chunks else 0
        chunks.append(replace(chunk, start=text.index(chunk.text, after)))
    return Document(BOOK, tuple(chunks), "A Christmas Carol", {"author": "Charles Dickens", "year": 1843})


async def add_questions(trueweave: AsyncTrueweave) -> None:
    """Add the questions on the book, each with the first passage that has its words."""
    passages = (await trueweave.document(BOOK, chunks=1000)).passages
    for question, words in QUESTIONS.items():
        right = next(one for one in passages if words in " ".join(one.text.split()))
        await trueweave.bench.add_question(question, [BenchPassage(BOOK, right.id)])


def answering(answers: Mapping[str, str]) -> Script:
    """A model that knows these questions. Its answers cite the passages that it was given; the keywords of a question
    are its names; every report on a community is the same; other structured replies are empty."""

    def script(asked: Asked) -> str:
        prompt = asked.messages[-1].content
        question = prompt.rpartition("Question: ")[2].strip()
        if "low_level" in (asked.schema or {}).get("properties", {}):
            return json.dumps({"low_level": re.findall(r"\b[A-Z]\w+", question), "high_level": []})
        if "findings" in (asked.schema or {}).get("properties", {}):
            return json.dumps(REPORT)
        if asked.schema is not None:
            return smallest(asked)
        if question == FOLLOW_UP and "Passages\n" not in prompt:
            return STANDS_ALONE
        answer = answers.get(STANDS_ALONE if question == FOLLOW_UP else question)
        if answer is None:
            raise Unscripted(f"no answer is scripted for the question {question!r}")
        return re.sub(r"\[\[(.+?)\]\]", lambda cited: _citation(prompt, cited[1]), answer, flags=re.DOTALL)

    return script


def _citation(prompt: str, quote: str) -> str:
    """The citation of these words, by the number of the first passage that has them."""
    passages = re.split(r"^\[(\d+)\] ", prompt, flags=re.MULTILINE)
    for number, text in zip(passages[1::2], passages[2::2], strict=True):
        if " ".join(quote.split()) in " ".join(text.split()):
            return f'[{number} "{quote}"]'
    raise Unscripted(f"no passage has the words {quote!r}")
