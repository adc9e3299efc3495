"""Prometheus metrics of a server or a worker. Each has its own registry; the global one is not used.

The number of label values is bounded: routes are patterns, and names that come from settings, such as those of models,
are counted together as "(other)" once there are many. No label names a workspace, document or caller.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import TimeoutError as WaitTimeout
from contextlib import suppress
from functools import cache
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from trueweave.core.errors import TrueweaveError
from trueweave.core.events import Event, Extracted, Failed, WorkFailed
from trueweave.core.telemetry.measurements import (
    CacheLookup,
    Charged,
    Measurement,
    ModelCalled,
    QuestionAnswered,
    Searched,
)
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.public_errors import translated
from trueweave.store.postgres.queue import queue
from trueweave.store.postgres.queue.queue import QueueState
from trueweave.store.postgres.standby_reads import StandbyState

_OTHER = "(other)"
_MOST_NAMES = 50
_VERBS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_QUEUE_FRESH = 5.0  # seconds for which the state of the queue is cached
_PATIENCE = 2.0  # seconds to wait for the database
_REQUEST_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_STEP_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
_MODEL_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)

# Metrics of the pool: psycopg's name, ours, whether it is a counter, the factor to our unit, and the help text.
_POOL = (
    ("pool_max", "db_pool_max_connections", False, 1.0, "The maximum size of the pool."),
    ("pool_size", "db_pool_connections", False, 1.0, "Connections in the pool."),
    ("pool_available", "db_pool_available_connections", False, 1.0, "Idle connections of the pool."),
    ("requests_waiting", "db_pool_waiting", False, 1.0, "Requests that are waiting for a connection."),
    ("requests_num", "db_pool_requests", True, 1.0, "Requests for a connection."),
    ("requests_queued", "db_pool_waits", True, 1.0, "Requests that had to wait for a connection."),
    ("requests_wait_ms", "db_pool_wait_seconds", True, 0.001, "Seconds spent waiting for connections."),
    ("requests_errors", "db_pool_failed_requests", True, 1.0, "Requests for a connection that failed."),
    ("usage_ms", "db_pool_usage_seconds", True, 0.001, "Seconds that connections were in use."),
    ("connections_num", "db_pool_connection_attempts", True, 1.0, "Attempts to connect to the database."),
    ("connections_errors", "db_pool_connection_failures", True, 1.0, "Attempts to connect that failed."),
)


class Metrics:
    """The metrics of one server or worker. `heard` counts events, `measured` counts measurements."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        about = Gauge("trueweave_build_info", "The version, always 1.", ["version"], registry=self.registry)
        about.labels(version("trueweave")).set(1)
        self._names: dict[str, set[str]] = {}
        self.requests_under_way = Gauge(
            "trueweave_http_requests_in_progress", "Requests in progress.", registry=self.registry
        )
        self._requests = self._times(
            "http_request",
            "Requests, until the response was sent.",
            _REQUEST_BUCKETS,
            "method",
            "route",
            "status",
        )
        self._searches = self._times("retrieve", "Searches for questions.", _REQUEST_BUCKETS, "method")
        self._steps = self._times("retrieve_step", "Steps of searches.", _STEP_BUCKETS, "method", "step")
        self._answers = self._times("ask", "Answers by a model, with search and check.", _MODEL_BUCKETS, "method")
        self._calls = self._times(
            "model_call", "Model calls; each attempt counts.", _MODEL_BUCKETS, "operation", "model"
        )
        self._failures = self._count("model_failures", "Model calls that failed.", "operation", "model", "kind")
        self._tokens = self._count("tokens", "Tokens charged.", "model", "stage", "direction")
        self._spend = self._count("spend", "Money charged.", "model", "stage", "currency")
        self._lookups = self._count("cache_lookups", "Lookups of replies in the cache.", "operation", "result")
        self._documents = self._count("documents", "Documents processed, by outcome.", "outcome")
        self._work_failures = self._count("work_failures", "Other jobs that failed because of a bug.", "kind")

    # Looking up the series of some labels takes several times as long as counting, so the lookup is cached.

    def _times(self, name: str, what: str, buckets: Sequence[float], *labels: str) -> Callable[..., Histogram]:
        full = f"trueweave_{name}_duration_seconds"
        return cache(Histogram(full, what, labels, buckets=buckets, registry=self.registry).labels)

    def _count(self, name: str, what: str, *labels: str) -> Callable[..., Counter]:
        return cache(Counter(f"trueweave_{name}", what, labels, registry=self.registry).labels)

    def watch(self, database: Database, loop: asyncio.AbstractEventLoop) -> _DatabaseCollector:
        """Include metrics of this database: its pool, standbys and queue. It is queried in this loop whenever metrics
        are requested."""
        watching = _DatabaseCollector(database, loop)
        self.registry.register(watching)
        return watching

    def unwatch(self, watching: Collector) -> None:
        """Stop including metrics of this database."""
        self.registry.unregister(watching)

    def request(self, verb: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered. `route` is a pattern, not a path."""
        self._requests(verb if verb in _VERBS else _OTHER, route, str(status)).observe(seconds)

    def heard(self, event: Event) -> None:
        """A listener that counts events of ingest."""
        match event:
            case Extracted():
                self._documents("processed").inc()
            case Failed(final=final):
                self._documents("failed" if final else "retried").inc()
            case WorkFailed(kind):
                self._work_failures(kind).inc()

    def measured(self, measurement: Measurement) -> None:
        """Count a measurement."""
        match measurement:
            case Searched(trace):
                method = self._one_of("method", trace.method)
                self._searches(method).observe(trace.seconds)
                for step in trace.steps:
                    if step.seconds:  # notes take no time
                        self._steps(method, self._one_of("step", step.what)).observe(step.seconds)
            case QuestionAnswered(method, seconds):
                self._answers(self._one_of("method", method)).observe(seconds)
            case ModelCalled(operation, model, seconds, failure):
                name = self._one_of("model", model)
                self._calls(operation, name).observe(seconds)
                if failure:
                    self._failures(operation, name, failure).inc()
            case Charged():
                self._charge(measurement)
            case CacheLookup(operation, hits, misses):
                self._lookups(operation, "hit").inc(hits)
                self._lookups(operation, "miss").inc(misses)

    def _charge(self, charged: Charged) -> None:
        model, stage = self._one_of("model", charged.model), self._one_of("stage", charged.stage)
        self._tokens(model, stage, "input").inc(charged.tokens_in)
        self._tokens(model, stage, "output").inc(charged.tokens_out)
        if charged.price is not None:
            self._spend(model, stage, charged.currency).inc(float(charged.price))

    def _one_of(self, label: str, name: str) -> str:
        """This name, or "(other)" if the label already has many."""
        known = self._names.setdefault(label, set())
        if name not in known:
            if len(known) >= _MOST_NAMES:
                return _OTHER
            known.add(name)
        return name

    def page(self, accepted: str = "") -> tuple[bytes, str]:
        """All metrics and their media type, in a format that the caller accepts. It may wait for the database, so it
        must not be called in the event loop."""
        encode, media_type = choose_encoder(accepted)
        return encode(self.registry), media_type


class _DatabaseCollector(Collector):
    """Collects metrics of the pool, the standbys and the queue when metrics are requested."""

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop) -> None:
        self._database = database
        self._loop = loop
        self._seen: list[QueueState] | None = None
        self._seen_at = -_QUEUE_FRESH

    def describe(self) -> Iterable[Metric]:
        return ()  # otherwise registering it would collect, and block the loop that runs the query

    def collect(self) -> Iterator[Metric]:
        stats = self._database.pool_stats()
        for theirs, ours, grows, unit, what in _POOL:
            family = (CounterMetricFamily if grows else GaugeMetricFamily)(f"trueweave_{ours}", what)
            family.add_metric([], stats.get(theirs, 0) * unit)
            yield family
        if every := self._database.all_standbys:
            yield from _standby_families([state for one in every for state in one.states()])
        states = self._states()
        yield GaugeMetricFamily(
            "trueweave_queue_known", "Whether the database reported the state of the queue.", float(states is not None)
        )
        if states is None:
            return
        jobs = GaugeMetricFamily("trueweave_queue_jobs", "Jobs of all workspaces.", labels=["kind", "state"])
        ages = GaugeMetricFamily(
            "trueweave_queue_oldest_job_age_seconds", "How long the oldest waiting job has been due.", labels=["kind"]
        )
        for one in states:
            for state, number in (("waiting", one.waiting), ("delayed", one.delayed), ("running", one.running)):
                jobs.add_metric([one.kind, state], number)
            ages.add_metric([one.kind], one.oldest)
        yield jobs
        yield ages

    def _states(self) -> list[QueueState] | None:
        """The state of the queue, including kinds without jobs; None if the database does not answer."""
        if time.monotonic() - self._seen_at < _QUEUE_FRESH:
            return self._seen
        asking = asyncio.run_coroutine_threadsafe(self._ask(), self._loop)
        self._seen, self._seen_at = None, time.monotonic()
        with suppress(WaitTimeout):
            self._seen = asking.result(_PATIENCE)
        asking.cancel()
        return self._seen

    async def _ask(self) -> list[QueueState] | None:
        try:
            with translated():
                found = {one.kind: one for one in await queue.state(self._database)}
        except TrueweaveError:
            return None
        return [found.get(kind, QueueState(kind, 0, 0, 0, 0.0)) for kind in sorted({*queue.KINDS, *found})]


def _standby_families(states: Sequence[StandbyState]) -> Iterator[Metric]:
    used = GaugeMetricFamily("trueweave_standby_used", "Whether questions read from this standby.", labels=["server"])
    lag = GaugeMetricFamily(
        "trueweave_standby_lag_seconds", "How far the standby is behind the primary.", labels=["server"]
    )
    reads = CounterMetricFamily(
        "trueweave_standby_reads",
        "Statements of questions, by answering server.",
        labels=["server", "answered_by"],
    )
    for one in states:
        if one.is_primary:
            continue  # not a standby: it answers the questions that no standby does
        used.add_metric([one.server], float(not one.problem))
        if one.lag is not None:
            lag.add_metric([one.server], one.lag)
        reads.add_metric([one.server, "standby"], one.reads)
        reads.add_metric([one.server, "primary"], one.failures)
    yield from (used, lag, reads)
