"""A chat over the documents of `trueweave demo`: answers stream while they are written, and end with their citations.

    uvicorn --app-dir chat_app app:app

Then open http://127.0.0.1:8000, or: curl -N 127.0.0.1:8000/chat --json '{"question": "How many prisms has the lens?"}'
With `model` in trueweave.toml, that model answers. Without one, QuotingModel repeats two sentences.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, StreamingResponse
from pydantic import BaseModel, Field

from trueweave import AsyncTrueweave, Settings, TrueweaveError
from trueweave.demo import DOCUMENTS
from trueweave.extend import Prompt, Reply


class Question(BaseModel):
    question: str = Field(min_length=1, max_length=2000)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


class QuotingModel:
    """Stands in for a language model: repeats the two sentences that are most like the question."""

    model = "example/quoting"

    async def complete(self, prompt: Prompt, purpose: object) -> Reply:
        shown, _, question = prompt.messages[-1].content.rpartition("Question")
        passages = re.findall(r"^\[(\d+)\] (.*?)(?=^\[\d+\] |\Z)", shown, re.MULTILINE | re.DOTALL)
        parts = [(mark, one) for mark, text in passages for one in re.split(r"(?<=[.!?])\s+|\n\n", text)]
        sentences = [(mark, one) for mark, one in parts if one.endswith(".")]  # neither titles nor headings
        wanted = words(question)
        sentences.sort(key=lambda pair: -len(wanted & words(pair[1])) / (5 + len(words(pair[1]))))
        best = [(mark, " ".join(one.split()).rstrip(".")) for mark, one in sentences[:2]]
        said = " ".join(f'{one} [{mark} "{one}"].' for mark, one in best)
        return Reply(said, len(shown) // 4, len(said) // 4)

    async def stream(self, prompt: Prompt, purpose: object) -> AsyncIterator[str | Reply]:
        reply = await self.complete(prompt, purpose)
        for word in re.findall(r"\S+\s*", reply.text):
            yield word
        yield reply


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings = Settings.load()
    async with AsyncTrueweave.open(llm=None if settings.model else QuotingModel(), settings=settings) as trueweave:
        await trueweave.add(DOCUMENTS)  # only what is new or has changed
        app.state.trueweave = trueweave
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/")
def page() -> FileResponse:
    return FileResponse(Path(__file__).with_name("index.html"))


@app.post("/chat")
def chat(asked: Question, request: Request) -> StreamingResponse:
    return StreamingResponse(answered(request.app.state.trueweave, asked.question), media_type="text/event-stream")


async def answered(trueweave: AsyncTrueweave, question: str) -> AsyncIterator[str]:
    """The answer as server-sent events: its text in pieces, then its sentences and what they cite."""
    try:
        async with aclosing(trueweave.stream(question)) as pieces:  # closed when the browser disconnects
            async for piece in pieces:
                if isinstance(piece, str):
                    yield event(text=piece)
                    continue
                cited = [{"number": one.number, "source": one.source, "quote": one.quote} for one in piece.citations]
                yield event(checked=[one.status for one in piece.sentences], citations=cited)
    except TrueweaveError as error:
        yield event(error=str(error))


def event(**data: object) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"
