"""Passages into LightRAG, and questions to it, for peer_retrieval.py. Run by LightRAG's own Python, not Trueweave's.

`peer_passages.py FOLDER PASSAGES_EACH` reads FOLDER/passages.jsonl, with what is said in each passage, and
FOLDER/questions.jsonl, and keeps its index in FOLDER/index. Its documents have so many passages each; a passage is
always one chunk. LightRAG extracts, merges, retrieves and cuts its context as it does for anybody, with its default
settings but for gleaning and reranking, which are off. Its model is a function that answers from the file: an
extraction prompt with what is said in that passage, a summary prompt with the beginning of what it is to summarise.
Its storages are those in files, which hold vectors exactly; no storage changes what is found.

Each line of standard output is JSON: {"embed": [texts]}, to which a line with their vectors must come on standard
input; {"seconds": …} when the index is there; and {"question": id, "ranked": {mode: [ids of passages]}}.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, logger, sanitize_text_for_encoding

MODES = ("naive", "local", "global", "hybrid", "mix")
DIMENSIONS = 384
DEPTH = 10  # passages that are kept of a context
LONGEST_CHUNK = 8192  # tokens, so that no passage is cut
LONGEST_SUMMARY = 1200  # characters; more than the embedding model reads
PATIENCE = 3600  # seconds for vectors
BETWEEN = "@@@@"  # passages of one document
FIELD, END = "<|#|>", "<|COMPLETE|>"
CLOSED = "\n```\n\n---Output---"  # after what a prompt is about

Said = dict[str, Any]
Model = Callable[..., Awaitable[str]]


# LightRAG copies its settings for each question, deeply: what a method belongs to as well, but no closures.
def model(said: dict[str, Said]) -> Model:
    """What LightRAG calls its model: it knows what is said in every passage, by its text."""

    async def answer(prompt: str, **options: Any) -> str:
        _, found, rest = prompt.partition("---Input Text---\n```\n")
        if found:
            return "\n".join((*_rows(said[rest.partition(CLOSED)[0]]), END))
        _, found, rest = prompt.partition("Description List:\n\n```\n")
        if found:
            lines = rest.partition(CLOSED)[0].splitlines()
            return " ".join(json.loads(line)["Description"] for line in lines)[:LONGEST_SUMMARY]
        raise ValueError(f"the model was asked for something else: {prompt[:200]}")

    return answer


def _rows(said: Said) -> Iterator[str]:
    for entity in said["entities"]:
        yield FIELD.join(("entity", *entity))
    for relation in said["relations"]:
        yield FIELD.join(("relation", *relation))


def embedding() -> EmbeddingFunc:
    """Vectors that the other process makes. Those of questions are asked for in every mode, and remembered."""
    turn = asyncio.Lock()
    known: dict[str, Any] = {}

    async def asked(texts: list[str]) -> Any:
        async with turn:
            tell(embed=texts)
            line = await asyncio.to_thread(sys.stdin.readline)
        return np.frombuffer(base64.b64decode(line), dtype=np.float32).reshape(len(texts), DIMENSIONS)

    async def embed(texts: list[str], context: str = "", **_: Any) -> Any:
        if context != "query":
            return await asked(texts)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, await asked(new), strict=True))
        return np.stack([known[text] for text in texts])

    return EmbeddingFunc(embedding_dim=DIMENSIONS, max_token_size=8192, func=embed, model_name="trueweave")


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


async def index(rag: LightRAG, passages: list[Said], each: int) -> None:
    """All passages, so many to a document."""
    groups = [passages[at : at + each] for at in range(0, len(passages), each)]
    await rag.ainsert(
        [BETWEEN.join(one["text"] for one in group) for group in groups],
        split_by_character=BETWEEN,
        split_by_character_only=True,
        ids=[group[0]["id"] for group in groups],
        file_paths=[f"{group[0]['id']}.txt" for group in groups],
    )
    counts = {name: count for name, count in (await rag.doc_status.get_status_counts()).items() if count}
    if counts != {"processed": len(groups)}:
        raise RuntimeError(f"LightRAG was given {len(groups)} documents, and says of them: {counts}")


async def ask(rag: LightRAG, said: dict[str, Said], question: Said, mode: str) -> list[str]:
    """The first passages of a question's context, in its order."""
    words = {"hl_keywords": question["high"], "ll_keywords": question["low"]}
    found = await rag.aquery_data(question["text"], QueryParam(mode=mode, enable_rerank=False, **words))
    chunks = found.get("data", {}).get("chunks", [])
    return list(dict.fromkeys(said[chunk["content"]]["id"] for chunk in chunks))[:DEPTH]


async def main(folder: Path, each: int) -> None:
    passages, questions = (
        [json.loads(line) for line in (folder / name).read_text().splitlines()]
        for name in ("passages.jsonl", "questions.jsonl")
    )
    said = {sanitize_text_for_encoding(one["text"]): one for one in passages}
    mark = folder / "indexed.json"  # written last, so that an attempt that was broken off counts for nothing
    if not mark.exists():
        shutil.rmtree(folder / "index", ignore_errors=True)
    rag = LightRAG(
        working_dir=str(folder / "index"),
        llm_model_func=model(said),
        llm_model_name="trueweave",
        embedding_func=embedding(),
        embedding_batch_num=200,
        default_embedding_timeout=PATIENCE,
        chunk_token_size=LONGEST_CHUNK,
        entity_extract_max_gleaning=0,
        enable_llm_cache=False,
        enable_llm_cache_for_entity_extract=False,
    )
    await rag.initialize_storages()
    if not mark.exists():
        started = time.perf_counter()
        await index(rag, passages, each)
        mark.write_text(json.dumps({"seconds": time.perf_counter() - started}))
    tell(**json.loads(mark.read_text()))
    for question in questions:
        tell(question=question["id"], ranked={mode: await ask(rag, said, question, mode) for mode in MODES})
    await rag.finalize_storages()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    logger.setLevel(logging.WARNING)
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
