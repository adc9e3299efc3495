"""Questions to LightRAG, for query.py. Run by LightRAG's own Python, not Trueweave's.

Each line of standard input is a request, {"mode": "local", "questions": [...]}; each line of standard output is the
answer to one, {"ms": [...], "characters": [...]}: how long each question took, and how long its context was. Model and
embedding are those of the driver that filled the index; the model takes no time.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import sys
import time
from typing import Any

import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, logger

DIMENSIONS = 384
NAME = re.compile(r"\b([A-Z][a-z]+\d+)\b")


async def answer(prompt: str, system_prompt: str | None = None, **_: Any) -> str:
    """The keywords of a question: its names, and that they relate."""
    if "high_level_keywords" not in (system_prompt or "") + prompt:
        raise ValueError(f"the model was asked for something else than keywords: {prompt[:200]}")
    names = NAME.findall(prompt)[-2:]
    return json.dumps({"high_level_keywords": [f"relates {n}" for n in names], "low_level_keywords": names})


async def embed(texts: list[str], **_: Any) -> Any:
    matrix = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(matrix, texts, strict=True):
        for word in set(re.findall(r"\w+", text)):
            code = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
            row[code % DIMENSIONS] += 1.0 if (code >> 32) & 1 else -1.0
            if word[0].isupper():
                row[(code >> 16) % DIMENSIONS] += 3.0
        row /= np.linalg.norm(row) or 1.0
    return matrix


async def main(folder: str) -> None:
    rag = LightRAG(
        working_dir=folder,
        llm_model_func=answer,
        llm_model_name="fake",
        embedding_func=EmbeddingFunc(embedding_dim=DIMENSIONS, max_token_size=8192, func=embed, model_name="hash384"),
        enable_llm_cache=False,
        workspace="",
        kv_storage="PGKVStorage",
        vector_storage="PGVectorStorage",
        doc_status_storage="PGDocStatusStorage",
        graph_storage="PGTableGraphStorage",
    )
    await rag.initialize_storages()
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        param = QueryParam(mode=asked["mode"], only_need_context=True, enable_rerank=False)
        milliseconds, characters = [], []
        for question in asked["questions"]:
            started = time.perf_counter()
            context = await rag.aquery(question, param=param)
            milliseconds.append(1000 * (time.perf_counter() - started))
            characters.append(len(context or ""))
        print(json.dumps({"ms": milliseconds, "characters": characters}), flush=True)
    await rag.finalize_storages()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    logger.setLevel(logging.WARNING)
    asyncio.run(main(sys.argv[1]))
