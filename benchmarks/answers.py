"""How good the answers of a small language model are from what `weave`, LightRAG and plain vector search find.

    python benchmarks/answers.py                 # hours; continues where it ended; writes results/answers.json
    python benchmarks/answers.py --minutes 60    # begins no question after an hour
    python benchmarks/answers.py --smoke         # two questions, by a model that takes no time; writes nothing

Up to fifty questions of each of MuSiQue (dev), 2WikiMultihopQA and HotpotQA, from all over the set, and in an order of
which every beginning is from all over it, too. They are asked in turns, one of each set, each of all systems. An
answer is kept in benchmarks/results/answers/SET.jsonl as soon as it is there, with the ids of the passages that the
model was shown, and no text of these. Figures are of the questions that all systems have answered. After a change of
what they depend on, move these files away.

A set has 1,000 passages: those that support the questions, and those around them in the set, which its authors
chose as distractors. All systems have the same ones with the same names (as `capitals` finds them), the same vectors
(MiniLM), and the same context: their first ten passages, in 1,500 tokens, in Trueweave's own prompt. LightRAG's mode is
mix. It would show its entities and relations as well, but here they are bare names, and take room from passages; they
are left out, as are Trueweave's.

The model, Qwen2.5-Coder-1.5B-Instruct (`make qwen`), first answers in sentences with citations, which Trueweave's rules
check, and then once more in few words: these are what exact match and F1 are of, even where its sentences say that the
passages do not have the answer. An answer is false if it has sentences that say more than that, and its few words do
not contain a known answer; it passes the check if all its sentences are confirmed. The model runs in one thread of
llama.cpp; `--url` is that of another llama.cpp that has loaded the same file, such as one built for the processor. The
last line printed is one JSON object with all figures, in per cent with 95 % intervals.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import parts
import peer_lightrag
import peer_retrieval
import quality_sets as sets
import qwen

from trueweave import Evidence, Passage
from trueweave.answering.ask import Answering
from trueweave.answering.compose import Context, LeftOut
from trueweave.bench.experiment import deep_enough
from trueweave.bench.measures import exact_match, normalised, recall, token_f1
from trueweave.bench.types import Dataset, Question
from trueweave.core.answers import Answer
from trueweave.core.bench import Interval
from trueweave.core.bootstrap import difference, interval
from trueweave.core.model_calls import Message, Prompt, Purpose, Reply
from trueweave.core.protocols import StreamingLLM
from trueweave.errors import BadReply
from trueweave.extend import Database
from trueweave.methods import Naive, Weave
from trueweave.models.names import endpoint
from trueweave.models.opening import open_chat
from trueweave.text.names import key

Figures = dict[str, Any]
HERE = Path(__file__).parent
RESULTS = HERE / "results" / "answers.json"
ANSWERS = HERE / "results" / "answers"
KEPT = HERE / ".answers"
PEERS = HERE / ".peers" / "lightrag"
QUESTIONS = 50
PASSAGES = 1000
DEPTH = 10
OURS, LIGHTRAG, PLAIN = "weave", "LightRAG mix", "naive"
ANSWERING = Answering(max_context_tokens=1500, max_answer_tokens=150)
FEW_WORDS = 32  # tokens
FEWER = "Which words of your answer answer the question? Write only these few words, not a sentence."
"""What the model is asked after its answer in sentences. It is worded as in two trials with passages that answer."""

Ranked = Mapping[str, Mapping[str, Sequence[str]]]
"""By system and question, the ids of the passages that it finds, best first."""


@dataclass(frozen=True)
class Row:
    """What came of a question by a system. `sentences` are those that claim something, and `confirmed` how many of them
    the check confirms; `known` is False if the model said that the passages do not have the answer. `cut` says that the
    answer in sentences was longer than allowed."""

    run: str
    question: str
    system: str
    passages: tuple[str, ...]
    answer: str
    known: bool
    sentences: int
    confirmed: int
    cut: bool
    tokens_in: int
    tokens_out: int
    seconds: float
    build: str

    @property
    def passes(self) -> bool:
        """Whether there is an answer all of whose sentences are confirmed."""
        return self.known and 0 < self.sentences == self.confirmed

    def is_false(self, question: Question) -> bool:
        """Whether there is an answer that does not contain a known one."""
        given = f" {normalised(self.answer)} "
        return self.known and not any(f" {normalised(one)} " in given for one in question.answers)


class AnswerFile:
    """The answers to the questions of a set, each written as soon as it is there."""

    def __init__(self, path: Path, run: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        left = path.read_bytes() if path.exists() else b""
        whole = left[: left.rfind(b"\n") + 1]  # without a last line that was cut off
        rows = [_row(json.loads(line)) for line in whole.splitlines()]
        if any(row.run != run for row in rows):
            sys.exit(f"{path} has answers by another model or prompt, or from other passages. Move it away.")
        if whole != left:
            os.truncate(path, len(whole))
        self.rows = {(row.question, row.system): row for row in rows}
        self._file = path.open("a", encoding="utf-8")

    def add(self, row: Row) -> None:
        self.rows[row.question, row.system] = row
        self._file.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _row(found: dict[str, Any]) -> Row:
    return Row(**{**found, "passages": tuple(found["passages"])})


@dataclass(frozen=True)
class Asked:
    """A set, what each system finds for its questions, and the answers so far."""

    dataset: Dataset
    ranked: Ranked
    passages: Mapping[str, Passage]
    run: str
    file: AnswerFile

    async def ask(self, question: Question, model: Model, turn: int) -> None:
        """Have a question answered from what each system finds, unless it is already. Another system begins each
        time."""
        systems = list(self.ranked)
        for n in range(len(systems)):
            system = systems[(turn + n) % len(systems)]
            if (question.id, system) not in self.file.rows:
                found = Evidence(tuple(self.passages[id_] for id_ in self.ranked[system][question.id][:DEPTH]))
                self.file.add(await model.answer(self.run, question, system, found))

    def answered(self) -> list[tuple[Question, dict[str, Row]]]:
        """The questions that all systems have answered, with the answers."""
        each = [
            (one, {name: row for name in self.ranked if (row := self.file.rows.get((one.id, name)))})
            for one in self.dataset.questions
        ]
        return [(question, rows) for question, rows in each if len(rows) == len(self.ranked)]


@dataclass
class Heard:
    """A model, with the last prompt that it was sent and its reply, and the tokens of all."""

    llm: StreamingLLM
    prompt: Prompt = field(init=False)
    reply: Reply = field(init=False)
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def model(self) -> str:
        return self.llm.model

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        self._hear(prompt, reply := await self.llm.complete(prompt, purpose))
        return reply

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        async for piece in self.llm.stream(prompt, purpose):
            if isinstance(piece, Reply):
                self._hear(prompt, piece)
            yield piece

    def _hear(self, prompt: Prompt, reply: Reply) -> None:
        self.prompt, self.reply = prompt, reply
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out


@dataclass(frozen=True)
class Model:
    """The language model, and the build of what runs it."""

    llm: StreamingLLM
    build: str

    async def answer(self, run: str, question: Question, system: str, evidence: Evidence) -> Row:
        """The answer from this evidence, in sentences that are checked, and in few words."""
        heard, began = Heard(self.llm), time.perf_counter()
        found = await _checked(question.text, evidence, heard)
        said, prompt = heard.reply, heard.prompt
        again = Message("assistant", said.text), Message("user", FEWER)
        few = await heard.complete(
            replace(prompt, messages=(*prompt.messages, *again), max_tokens=FEW_WORDS), Purpose("answer")
        )
        claims = [sentence for sentence in found.sentences if sentence.claims] if found else []
        return Row(
            run,
            question.id,
            system,
            tuple(passage.uri for passage in ANSWERING.context(evidence).passages),
            " ".join(few.text.split()),
            bool(found and found.known),
            len(claims),
            sum(sentence.confirmed for sentence in claims),
            said.finish == "length",
            heard.tokens_in,
            heard.tokens_out,
            round(time.perf_counter() - began, 1),
            self.build,
        )


async def _checked(question: str, evidence: Evidence, llm: StreamingLLM) -> Answer | None:
    """The checked answer; None if the model writes none."""
    try:
        *_, answer = [piece async for piece in ANSWERING.stream(question, evidence, llm)]
    except BadReply:
        return None
    assert isinstance(answer, Answer)
    return answer


@dataclass
class FirstSentence:
    """A model that takes no time: it copies the beginning of the first passage, and counts what it is asked."""

    model: str = "vllm/first-sentence"
    asked: int = 0

    async def complete(self, prompt: Prompt, _: Purpose) -> Reply:
        self.asked += 1
        if prompt.messages[-1].content == FEWER:
            return Reply("Yes.", tokens_in=1600, tokens_out=1)
        shown = prompt.messages[-1].content.partition("Passages\n")[2].splitlines()
        words = " ".join(shown[2].split()[:6])
        return Reply(f'{words} [1 "{words}"].', tokens_in=1500, tokens_out=20)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        reply = await self.complete(prompt, purpose)
        yield reply.text
        yield reply


# --- what is asked ------------------------------------------------------------------------------------


def chosen(dataset: Dataset, questions: int, passages: int) -> Dataset:
    """So many questions, and so many passages: those that support them, and those around these in the set. Every
    beginning of the questions is from all over the set."""
    assert dataset.passages is not None
    few = sets.propagate(dataset, questions)
    count = len(few.questions)
    step = next(n for n in range(round(count * 0.618), 2 * count) if math.gcd(n, count) == 1)
    asked = tuple(few.questions[n * step % count] for n in range(count))
    everything = list(dataset.passages)
    wanted = {id_ for one in asked for id_ in one.supporting}
    places = [n for n, one in enumerate(everything) if one.id in wanted]
    # The nearest first: a passage is as far away as it is from the nearest supporting one.
    far = sorted(range(len(everything)), key=lambda n: min(abs(n - place) for place in places))
    kept = sorted(far[: max(passages, len(places))])
    return replace(few, name=f"{few.name} {len(kept)}", questions=asked, passages=[everything[n] for n in kept])


def run_of(dataset: Dataset, model: str) -> str:
    """A key of what answers depend on besides the question and the code."""
    prompt = ANSWERING.prompt("", Context("", 0, (), LeftOut()))
    said = [message.content for message in prompt.messages]
    ids = [one.id for one in dataset.passages or ()]
    return key(model, *said, FEWER, repr((ANSWERING.max_context_tokens, prompt.max_tokens, DEPTH)), *ids).hex[:12]


class Bench:
    """The sets, loaded when they are needed."""

    def __init__(self, shelf: sets.Shelf, folder: Path, answers: Path, *, smoke: bool) -> None:
        self._shelf = shelf
        self._folder = folder
        self._answers = answers
        self._smoke = smoke

    async def sets(self) -> dict[str, Asked]:
        """All sets, with what each system finds for every question."""
        names = ("hotpotqa_train100",) if self._smoke else tuple(sets.TESTED)
        return {name: await self._set(name) for name in names}

    async def _set(self, name: str) -> Asked:
        dataset = chosen(sets.found(name), *((2, 20) if self._smoke else (QUESTIONS, PASSAGES)))
        ranked: dict[str, Mapping[str, Sequence[str]]] = {OURS: {}, LIGHTRAG: {}, PLAIN: {}}
        async with self._shelf.loaded(dataset, "names") as trueweave:
            for system, method in ((OURS, Weave()), (PLAIN, Naive())):
                deep = deep_enough(method, DEPTH)
                found = {one.id: await trueweave.retrieve(one.text, deep) for one in dataset.questions}
                ranked[system] = {id_: [passage.uri for passage in one.passages] for id_, one in found.items()}
        if self._smoke:
            del ranked[LIGHTRAG]  # which would have to be installed
        else:
            peer = await asyncio.to_thread(peer_lightrag.prepare, PEERS)
            modes = await asyncio.to_thread(peer_retrieval.ranked, dataset, "capitals", self._folder / "lightrag", peer)
            ranked[LIGHTRAG] = modes["mix"]
        run = run_of(dataset, qwen.SHA256)
        return Asked(dataset, ranked, shown(dataset), run, AnswerFile(self._answers / f"{name}.jsonl", run))


def shown(dataset: Dataset) -> dict[str, Passage]:
    """The passages of a set by their ids, as a model is shown them whoever finds them."""
    return {
        one.id: Passage(uuid5(NAMESPACE_URL, one.id), one.id, one.title, one.whole, 0, 0.0)
        for one in dataset.passages or ()
    }


async def asked(each: Sequence[Asked], model: Model, until: float) -> None:
    """Ask the questions of all sets in turns. None is begun after this time."""
    for turn in range(max(len(one.dataset.questions) for one in each)):
        for one in each:
            if time.monotonic() > until:
                return
            if turn < len(one.dataset.questions):
                await one.ask(one.dataset.questions[turn], model, turn)
        done = [len(one.answered()) for one in each]
        print(f"  {time.strftime('%H:%M:%S')} {done} questions answered", file=sys.stderr)


# --- figures ------------------------------------------------------------------------------------------


def figures(answered: Sequence[tuple[Question, dict[str, Row]]]) -> Figures:
    """For each system how good its answers to these questions are, and how far `weave` is ahead."""
    if not answered:
        return {"questions": 0}
    systems = list(answered[0][1])
    scores = {system: [_scores(question, rows[system]) for question, rows in answered] for system in systems}
    means: Figures = {}
    for system in systems:
        rows = [(question, found[system]) for question, found in answered]
        false = [row for question, row in rows if row.is_false(question)]
        means[system] = {
            **{name: _percent(interval([one[name] for one in scores[system]])) for name in scores[system][0]},
            "answered": sum(row.known for _, row in rows),
            "confirmed": sum(row.passes for _, row in rows),
            "false": len(false),
            "false_confirmed": sum(row.passes for row in false),
            "tokens_in": round(mean(row.tokens_in for _, row in rows)),
            "tokens_out": round(mean(row.tokens_out for _, row in rows)),
            "seconds": round(mean(row.seconds for _, row in rows), 1),
        }
    ahead = {
        system: {
            name: _percent(difference([one[name] for one in scores[OURS]], [one[name] for one in scores[system]]))
            for name in scores[OURS][0]
        }
        for system in systems
        if system != OURS
    }
    return {"questions": len(answered), "systems": means, "weave_ahead": ahead}


def _scores(question: Question, row: Row) -> dict[str, float]:
    return {
        "exact_match": exact_match(row.answer, question.answers),
        "f1": token_f1(row.answer, question.answers),
        "supporting": recall(row.passages, question.supporting, DEPTH),
    }


def _percent(one: Interval) -> list[float]:
    """Mean, and between which values it lies."""
    return [round(100 * value, 1) for value in (one.mean, one.low, one.high)]


# --- running ------------------------------------------------------------------------------------------


async def run(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    answers = folder / "answers" if options.smoke else ANSWERS
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(url))
        shelf = await stack.enter_async_context(sets.opened(database, folder))
        each = await Bench(shelf, folder, answers, smoke=options.smoke).sets()
        for one in each.values():
            stack.enter_context(closing(one.file))
        until = time.monotonic() + 60 * options.minutes
        if options.smoke:
            model = FirstSentence()
            await asked(list(each.values()), Model(model, ""), until)
            await asked(list(each.values()), Model(model, ""), until)  # nothing is asked twice
            wanted = 2 * sum(len(one.dataset.questions) * len(one.ranked) for one in each.values())
            assert model.asked == wanted, f"the model was asked {model.asked} times instead of {wanted}"
        elif options.minutes > 0:
            address = options.url or stack.enter_context(qwen.served())
            chat = open_chat(endpoint(f"llamacpp/{qwen.NAME}", url=f"{address}/v1"), deadline=1800)
            stack.push_async_callback(chat.close)
            await asked(list(each.values()), Model(chat, qwen.build(address)), until)
        by_set = {name: figures(one.answered()) for name, one in each.items()}
        together = figures([pair for one in each.values() for pair in one.answered()])
    return {"together": together, **by_set}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no question later; 0 for figures alone")
    parser.add_argument("--url", help="the address of a llama.cpp server that has the model, without /v1")
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
