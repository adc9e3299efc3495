"""Metrics: what is counted under which labels, and that there are few of them."""

import asyncio
from decimal import Decimal

from trueweave.core.telemetry.measurements import (
    CacheLookup,
    Charged,
    ModelCalled,
    QuestionAnswered,
    Searched,
    measure,
    measured_by,
)
from trueweave.core.telemetry.spans import failure_name
from trueweave.errors import ModelUnavailable
from trueweave.events import Extracted, Failed, WorkFailed
from trueweave.server.metrics import Metrics
from trueweave.types import Step, Trace


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"trueweave_{name}", labels)


def test_a_search_is_timed_by_method_and_step_and_notes_are_no_steps() -> None:
    metrics = Metrics()
    steps = Step("embed", "a question", 1, (), 0.02), Step("keywords", "", 2, (), 0.0)
    metrics.measured(Searched(Trace("naive", steps, 0.3)))
    metrics.measured(QuestionAnswered("naive", 1.5))
    assert value(metrics, "retrieve_duration_seconds_sum", method="naive") == 0.3
    assert value(metrics, "retrieve_step_duration_seconds_sum", method="naive", step="embed") == 0.02
    assert value(metrics, "retrieve_step_duration_seconds_count", method="naive", step="keywords") is None
    assert value(metrics, "ask_duration_seconds_bucket", method="naive", le="2.5") == 1
    assert b"a question" not in metrics.page()[0], "no text is told"


def test_calls_tokens_money_and_cache_are_counted() -> None:
    metrics = Metrics()
    metrics.measured(ModelCalled("chat", "vllm/m", 2.0))
    metrics.measured(ModelCalled("chat", "vllm/m", 3.0, "ModelUnavailable"))
    metrics.measured(Charged("vllm/m", "answer", 100, 20, Decimal("0.5"), "EUR"))
    metrics.measured(Charged("vllm/m", "answer", 1, 2, None, "EUR"))
    metrics.measured(CacheLookup("embeddings", 3, 4))
    assert value(metrics, "model_call_duration_seconds_sum", operation="chat", model="vllm/m") == 5.0
    failures = {"operation": "chat", "model": "vllm/m", "kind": "ModelUnavailable"}
    assert value(metrics, "model_failures_total", **failures) == 1
    assert value(metrics, "tokens_total", model="vllm/m", stage="answer", direction="input") == 101
    assert value(metrics, "tokens_total", model="vllm/m", stage="answer", direction="output") == 22
    assert value(metrics, "spend_total", model="vllm/m", stage="answer", currency="EUR") == 0.5
    assert value(metrics, "cache_lookups_total", operation="embeddings", result="hit") == 3
    assert value(metrics, "cache_lookups_total", operation="embeddings", result="miss") == 4


def test_documents_are_counted_by_how_they_ended() -> None:
    metrics = Metrics()
    for event in (Extracted("a", 1), Extracted("b", 1), Failed("c", "x", False), Failed("c", "x", True)):
        metrics.heard(event)
    metrics.heard(WorkFailed("settle", "", "x"))
    outcomes = {one: value(metrics, "documents_total", outcome=one) for one in ("processed", "retried", "failed")}
    assert outcomes == {"processed": 2, "retried": 1, "failed": 1}
    assert value(metrics, "work_failures_total", kind="settle") == 1


def test_labels_have_few_values_whatever_tenants_set() -> None:
    metrics = Metrics()
    for n in range(1000):
        metrics.measured(ModelCalled("chat", f"vllm/{n}", 1.0))
        metrics.request(f"X{n}", "/v1/workspaces/{workspace}", 200, 0.1)
    series = [line for line in metrics.page()[0].decode().splitlines() if "_duration_seconds_count" in line]
    assert len(series) == 50 + 1 + 1
    assert value(metrics, "model_call_duration_seconds_count", operation="chat", model="(other)") == 950


def test_a_failure_has_one_of_few_names() -> None:
    assert failure_name(ModelUnavailable("x at http://user@host")) == "ModelUnavailable"
    assert failure_name(KeyError("text")) == "bug"
    assert failure_name(asyncio.CancelledError()) == failure_name(GeneratorExit()) == "cancelled"


async def test_who_measures_is_known_from_the_task() -> None:
    first, second = Metrics(), Metrics()

    async def call() -> None:
        measure(CacheLookup("chat", 1, 0))

    with measured_by(first.measured):
        task = asyncio.create_task(call())
    with measured_by(second.measured):
        await call()
        await task
    await call()  # nobody measures here
    found = [value(one, "cache_lookups_total", operation="chat", result="hit") for one in (first, second)]
    assert found == [1, 1]
