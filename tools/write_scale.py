"""Writes docs/explanation/scale.md and its plots from the results of benchmarks.

`make docs` fails while they are out of date.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from pathlib import Path
from typing import Any

from written import table, write_or_check

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TEMPLATE = Path(__file__).parent / "scale_template.md"
PAGE = ROOT / "docs" / "explanation" / "scale.md"
PLOTS = ROOT / "docs" / "plots"
SIZES = (1e6, 1e7, 1e8, 1e9)

Figures = Mapping[str, Any]

_EXTRACTION = {"given": "given triples", "capitals": "by capitalisation", "nlp": "by spaCy"}

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _BOTTOM, _LABEL = 640, 400, 50, 110, 30, 13
_STYLE = """<style>
svg { font: 12px system-ui, sans-serif; background: #faf8f3 } .tick { fill: #6b6458 } .grid { stroke: #dcd6c9 }
.line { fill: none; stroke: #9c9587; stroke-width: 1.5 } .dot { fill: #9c9587 } .name { fill: #1e1b16 }
.best { stroke: #27498f; stroke-width: 2.5 } .best.dot { fill: #27498f }
@media (prefers-color-scheme: dark) { svg { background: #161512 } .tick { fill: #9c9587 } .grid { stroke: #37342d }
.line { stroke: #6b6458 } .dot { fill: #6b6458 } .name { fill: #efeae0 }
.best { stroke: #9fb8f2 } .best.dot { fill: #9fb8f2 } }
</style>"""


def page(growth: Figures, recall: Figures, bulk: Figures, parts: Figures, tenants: Figures, standby: Figures) -> str:
    """The whole page."""
    one = max(growth["sizes"].values(), key=lambda one: one["chunks"])
    models = {name: model for name, model in bulk["models"].items() if "/" in name}
    rate = bulk["models"]["minilm_passages_per_second_and_core"]
    return TEMPLATE.read_text("utf-8").format(
        cores=growth["cores"],
        largest=f"{one['chunks']:,}",
        **_growing(growth),
        **_recall(recall),
        **_bulk({name: one for name, one in bulk.items() if name in _EXTRACTION}),
        **_partitions(parts),
        tenants=f"{tenants['workspaces']:,}",
        moved_documents=f"{tenants['moved']['documents']:,}",
        moved_seconds=f"{tenants['moved']['seconds']:.0f}",
        **_readers(standby),
        stages=_stages(one),
        million_bytes=_bytes(1e6 * one["bytes_per_chunk"]),
        vectors=f"{(one['chunks'] + one['entities'] + one['relations']) / one['chunks']:.1f}",
        embedding_hours=f"{1e6 / rate / 3600:.0f}",
        breaking=_breaking(one, growth["cores"]),
        chunk_tokens=next(iter(models.values()))["tokens_a_chunk"],
        extraction=_extraction(models),
        hardware=_hardware(one),
    )


def _growing(growth: Figures) -> dict[str, str]:
    sizes = growth["sizes"]
    first = next(iter(sizes.values()))
    head = tuple(_short(int(size)) for size in sizes)
    rows = [
        (
            f"{one['chunks']:,}", f"{one['entities']:,}", f"{one['relations']:,}",
            f"{one['bulk_seconds_per_1000']:.2f}", f"{one['online_seconds_per_1000']:.2f}",
            f"{one['bytes_per_chunk']:,}",
        )
        for one in sizes.values()
    ]  # fmt: skip
    asked = []
    for name in first["methods"]:
        times = (one["methods"][name] for one in sizes.values())
        steps = (f"{step['questions'][name]:.2f}" for step in growth["growth"].values())
        asked.append((name, *(f"{one['p50_ms']:.1f} / {one['p95_ms']:.1f}" for one in times), *steps))
    recall = [
        (name, *(f"{one['recall_at_10'][name]['recall']:.3f}" for one in sizes.values()))
        for name in first["recall_at_10"]
    ]
    met = []
    for step in growth["growth"]:
        judged = [one["met"] for one in growth["targets"] if f" {step} " in one["what"]]
        met.append(f"{sum(judged)} of {len(judged)} from {_span(step)}")
    return {
        "sizes": table(
            ("chunks", "entities", "relations", "bulk, s per 1,000", "online, s per 1,000", "bytes per chunk"), rows
        ),
        "questions": table(("method", *head, *(f"× {_span(step)}" for step in growth["growth"])), asked),
        "recall": table(("documents", *head), recall),
        "met": f"It is met for {', '.join(met)}.",
    }


def _span(step: str) -> str:
    before, after = step.split("-")
    return f"{_short(int(before))} to {_short(int(after))}"


def _recall(recall: Figures) -> dict[str, str]:
    sizes = recall["sizes"]
    *_, largest = sizes.values()
    rows = [
        (name, *(f"{one[name]['recall']:.3f} / {one[name]['p50_ms']:.0f}" for one in sizes.values()))
        for name in largest
    ]
    share = largest["other subject"]["passing"] / largest["all"]["passing"]
    return {
        "searches": str(recall["searches"]),
        "other_subject": f"{100 * share:.0f} %",
        "recall_of_searches": table(("documents", *(_short(int(size)) for size in sizes)), rows),
    }


def _bulk(bulk: Figures) -> dict[str, str]:
    rows = [
        (
            _EXTRACTION[name], f"{one['chunks']:,}", f"{one['bulk_chunks_per_second_and_core']:.0f}",
            f"{one['bulk_of_online_speed']:.2f}", f"{one['of_bare_pipeline']:.2f}", f"{one['bare_of_loading']:.2f}",
        )
        for name, one in bulk.items()
    ]  # fmt: skip
    stages = dict.fromkeys(stage for one in bulk.values() for stage in one["stages"])
    shares = [
        (stage.lower(), *(f"{100 * one['share_of_stages'].get(stage, 0):.0f} %" for one in bulk.values()))
        for stage in stages
    ]
    return {
        "bulk": table(("names", "chunks", "chunks/s and core", "× online", "× bare", "COPY"), rows),
        "shares": table(("stage", *(_EXTRACTION[name] for name in bulk)), shares),
    }


def _partitions(parts: Figures) -> dict[str, str]:
    rows = [
        (number, f"{one['build_seconds']:.0f}", f"{one['recall_at_10']:.3f}", f"{one['p50_ms']:.1f}")
        for number, one in parts["partitions"].items()
        if number.isdigit()
    ]
    bits, half = parts["quantised"]["bits"], parts["partitions"]["1"]
    quantised = [("16 bits", f"{half['index_bytes_a_row']:,}", f"{half['recall_at_10']:.3f}")]
    for name, one in bits.items():
        if name.endswith("x"):
            what = f"1 bit, {name[:-1]} times as many results compared again"
            quantised.append((what, f"{bits['index_bytes_a_row']:,}", f"{one['recall_at_10']:.3f}"))
    return {
        "partitioned_vectors": f"{parts['rows']:,}",
        "partitioned_dimensions": str(parts["dimensions"]),
        "partitions": table(("partitions", "build, s", "recall at 10", "p50, ms"), rows),
        "quantised": table(("vectors in the index", "bytes a vector", "recall at 10"), quantised),
    }


def _readers(standby: Figures) -> dict[str, str]:
    asked = standby["asking"]["nobody_writes"]
    spent = {by: asked[by]["primary_processor_ms_per_question"] for by in ("primary", "standby")}
    return {"primary_alone": f"{spent['primary']:g}", "primary_beside": f"{spent['standby']:g}"}


def _stages(one: Figures) -> str:
    share = 1e6 / one["chunks"] / 60
    rows = [(stage.lower(), f"{seconds * share:.1f}") for stage, seconds in one["stages"].items()]
    return table(("stage", "minutes"), [*rows, ("all", f"{one['bulk_seconds'] * share:.1f}")])


def _breaking(one: Figures, cores: int) -> str:
    first = {
        1e6: "Nothing; but the graph of the vector index no longer fits into the memory for building it",
        1e7: "The memory of a small server; and a bulk load on two cores takes too long",
        1e8: "One server: its disk, its backup, its vacuum",
        1e9: "The price of models, and any single database",
    }
    then = {
        1e6: "[partitions](../adr/0039-partitions.md) that fit, built in parallel",
        1e7: "more memory, [standbys](../how-to/standbys.md) for questions, "
        "[bulk loading](../how-to/bulk.md) on more nodes",
        1e8: "a workspace for each subject, over [several servers](../how-to/servers.md)",
        1e9: "no model for extraction; a catalogue that chooses which workspaces to ask is not built",
    }
    rows = []
    for size in SIZES:
        hours = size * one["bulk_seconds"] / one["chunks"] * cores / 3600
        stored = _bytes(size * one["bytes_per_chunk"])
        rows.append((_short(size), stored, f"{hours:,.0f}", first[size], then[size]))
    return table(("chunks", "storage", "core hours to load", "what breaks first", "what to do"), rows)


def _extraction(models: Figures) -> str:
    rows = []
    for name, one in models.items():
        dollars = (f"{size / 1e6 * one['dollars_per_million_chunks']:,.0f}" for size in SIZES)
        rows.append((name, f"{one['tokens_in_a_chunk']:,}", f"{one['tokens_out_a_chunk']:,}", *dollars))
    head = (
        "model",
        "input tokens per chunk",
        "output tokens, assumed",
        *(f"$ for {_short(size)} chunks" for size in SIZES),
    )
    return table(head, rows)


def _hardware(one: Figures) -> str:
    rows = []
    for size, servers, cores, readers, loading in (
        (1e6, 1, "4 cores", "a standby", "on the same machine"),
        (1e7, 1, "16 cores", "two standbys", "a Ray cluster of 32 cores"),
        (1e8, 4, "4 servers of 32 cores", "two standbys each", "a Ray cluster of 200 cores"),
    ):
        each = size * one["bytes_per_chunk"] / servers
        rows.append((_short(size), cores, _bytes(each / 2), _bytes(2.5 * each), readers, loading))
    return table(("chunks", "PostgreSQL", "memory each", "disk each (SSD)", "readers", "bulk load"), rows)


def drawn(growth: Figures) -> str:
    """The p50 of each method by size, both logarithmic."""
    sizes = [int(size) for size in growth["sizes"]]
    methods = {
        name: [one["methods"][name]["p50_ms"] for one in growth["sizes"].values()]
        for name in next(iter(growth["sizes"].values()))["methods"]
    }
    most = max(max(times) for times in methods.values())
    top, right = log10(most) * 1.1, log10(sizes[-1])

    def at(size: float, ms: float) -> tuple[float, float]:
        x = _LEFT + (log10(size) - log10(sizes[0])) / (right - log10(sizes[0])) * (_WIDTH - _LEFT - _RIGHT)
        return x, 10 + (1 - log10(max(ms, 1)) / top) * (_HEIGHT - _BOTTOM - 10)

    parts = []
    for ms in (1, 10, 100, 1000):
        if ms <= most:
            _, y = at(sizes[0], ms)
            parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>')
            parts.append(f'<text class="tick" x="4" y="{y + 4:.1f}">{ms} ms</text>')
    for size in sizes:
        x, _ = at(size, 1)
        parts.append(f'<text class="tick" x="{x:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">{_short(size)}</text>')
    ends: dict[str, float] = {}
    for name, times in sorted(methods.items(), key=lambda one: -one[1][-1]):
        style = " best" if name == "weave" else ""
        points = [at(size, ms) for size, ms in zip(sizes, times, strict=True)]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        parts.append(f'<path class="line{style}" d="M{path}"/>')
        parts += [f'<circle class="dot{style}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]
        ends[name] = points[-1][1] + 4
    for name, y in _apart(ends).items():
        parts.append(f'<text class="name" x="{_WIDTH - _RIGHT + 8}" y="{y:.1f}">{escape(name)}</text>')
    title = "Median time of a question by method, as the index grows"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}">'
        f"{_STYLE}<title>{title}</title>{''.join(parts)}</svg>"
    )


def _apart(ends: Mapping[str, float]) -> dict[str, float]:
    """Where labels stand, from the top: those that would overlap are moved up, and down again where that is too far."""
    rows = list(ends.values())
    for at in range(len(rows) - 2, -1, -1):
        rows[at] = min(rows[at], rows[at + 1] - _LABEL)
    for at, y in enumerate(rows):
        rows[at] = max(y, rows[at - 1] + _LABEL if at else float(_LABEL))
    return dict(zip(ends, rows, strict=True))


def _bytes(number: float) -> str:
    units: Sequence[str] = ("GB", "TB", "PB")
    number /= 1e9
    for unit in units:
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.0f} EB"


def _short(size: float) -> str:
    return f"{size / 1e9:g}B" if size >= 1e9 else f"{size / 1e6:g}M" if size >= 1e6 else f"{size / 1e3:g}k"


def main() -> None:
    names = ("growth", "recall", "bulk", "partitions", "tenants", "standby")
    growth, *others = (json.loads((RESULTS / f"{name}.json").read_text()) for name in names)
    files = {PAGE: page(growth, *others), PLOTS / "growth.svg": drawn(growth)}
    write_or_check(files, "scale")


if __name__ == "__main__":
    main()
