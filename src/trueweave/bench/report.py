"""The report of a benchmark: a self-contained page for people, and a JSON file for programs.

The page has its own content security policy: no scripts, nothing from other hosts, and no style but the one in it. All
data is escaped.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path

from trueweave.bench import plots
from trueweave.bench.measures import EVIDENCE_WITHIN
from trueweave.bench.results import IndexResult, MethodResult, Results, Telling, answer
from trueweave.bench.verdict import verdict
from trueweave.core.errors import ConfigError
from trueweave.core.money import money
from trueweave.ingest.loading.own_files import GENERATOR

INDEX_HEADINGS = ("built in", "chunks", "entities", "relations", "size", "price")

_HELP = {
    "recall": "the share of the supporting passages among the first k",
    "ndcg": "the same, but earlier ranks count more",
    "mrr": "one over the rank of the first supporting passage",
    "map": "the precision at the rank of each supporting passage, averaged",
    "evidence": f"the share of the words of the evidence in the first {EVIDENCE_WITHIN:,} characters found",
    "exact match": "the answer equals a known answer",
    "F1": "the overlap of its words with a known answer",
    "confirmed": "the share of its sentences that the check confirms",
    "correct": "whether a model judges the answer to be right (1), partly right (0.5) or wrong",
    "complete": "whether it judges that the answer says all that is asked",
    "supported": "whether it judges that the passages state what the answer says",
}


def write(found: Results, folder: Path) -> tuple[Path, Path]:
    """Write the page and the JSON file into a folder, and return their paths."""
    shown, told = files_in(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shown.write_text(page(found), "utf-8")
        whole = {"verdict": verdict(found), **answer(found)}
        told.write_text(json.dumps(whole, default=str, ensure_ascii=False, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write to {folder}: {error.strerror}. Give --out another folder.") from error
    return shown, told


def files_in(folder: Path) -> tuple[Path, Path]:
    """The paths of the page and the JSON file in a folder."""
    return folder / "report.html", folder / "results.json"


def page(found: Results) -> str:
    """The report as an HTML page."""
    style = files("trueweave.bench").joinpath("page.css").read_text("utf-8")
    hashed = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    title = f"Methods on {found.dataset}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f"{GENERATOR}\n"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style></head>\n<body>\n"
        + "\n".join(
            (*_top(found, title), *_scores(found), *_indexes(found), *_kinds(found), *_costs(found), *_tellings(found))
        )
        + "\n"
        + "\n".join(_how(found))
        + "\n</body></html>\n"
    )


def _top(found: Results, title: str) -> Iterable[str]:
    things = "documents" if found.own else "passages"
    counts = f"{found.questions:,} question{'' if found.questions == 1 else 's'} over {found.passages:,} {things}"
    yield f"<h1>{escape(title)}</h1>"
    yield f'<p class="dim">{escape(counts)}</p>'
    yield f'<p class="verdict">{escape(verdict(found))}</p>'
    yield from _plots(found)
    yield f'<p class="dim">{escape(found.leading)}, with 95 % intervals.</p>'


def _plots(found: Results) -> Iterable[str]:
    """The scores of all methods; of several indexes, those in each under its settings."""
    if not found.indexes:
        rows = [(one.name, one.scores[found.leading]) for one in found.methods]
        yield plots.intervals(rows, f"{found.leading} of each method")
    best = found.best(found.leading).name
    for index in found.indexes:
        names = {label: name for name, label in index.labels.items()}
        here = [one for one in found.methods if one.name in names]
        rows = [(names[one.name], one.scores[found.leading]) for one in here]
        yield f"<h3>{escape(index.name)}</h3>"
        yield plots.intervals(rows, f"{found.leading} with {index.name}", is_best=any(one.name == best for one in here))


def _indexes(found: Results) -> Iterable[str]:
    if not found.indexes:
        return
    yield "<h2>What an index takes</h2>"
    rows = {one.name: [escape(cell) for cell in index_cells(one, found.currency)] for one in found.indexes}
    yield _table(INDEX_HEADINGS, rows, "settings")
    yield (
        '<p class="dim">The time to build it, with replies of models that were cached before; the size is that of rows '
        "and vectors, without the indexes of PostgreSQL.</p>"
    )


def index_cells(one: IndexResult, currency: str) -> list[str]:
    """What an index took, under INDEX_HEADINGS."""
    price = "not known" if one.price is None else money(one.price, currency) if one.price else "nothing"
    counts = (one.chunks, one.entities, one.relations)
    return [f"{one.seconds:,.1f} s", *(f"{number:,}" for number in counts), f"{one.size / 1e6:,.1f} MB", price]


def _scores(found: Results) -> Iterable[str]:
    yield "<h2>Scores</h2>"
    yield _table(found.measures, {one.name: [_score(found, one, m) for m in found.measures] for one in found.methods})
    told = dict.fromkeys(_help(name) for name in found.measures)
    yield (
        '<p class="dim">The best of each column is bold. Below the others stands how far they are from it, in points: '
        "with * where the 95 % interval of that difference excludes 0, with ≈ where it may be chance.</p>"
    )
    yield f'<p class="dim">{escape("; ".join(told))}.</p>'


def _help(measure: str) -> str:
    what, at, _ = measure.partition("@")
    return f"{what}{at and '@k'}: {_HELP[what]}"


def _score(found: Results, method: MethodResult, measure: str) -> str:
    shown = f"{100 * method.scores[measure].mean:.1f}"
    behind = found.difference(measure, method.name)
    if behind is None:
        return f"<strong>{shown}</strong>"
    low, high = 100 * behind.interval.low, 100 * behind.interval.high
    mark = "*" if behind.significant else "≈"
    points = f"{100 * behind.interval.mean:+.1f} {mark}".replace("+0.0", "0.0").replace("-0.0", "0.0")
    return f'{shown}<small title="95 % interval {low:+.1f} to {high:+.1f}">{points}</small>'


def _table(headings: Iterable[str], rows: Mapping[str, Iterable[str]], of: str = "method") -> str:
    """A table of numbers, a row for each method. Cells are HTML."""
    head = "".join(f'<th class="number">{escape(heading)}</th>' for heading in headings)
    cells = {name: "".join(f'<td class="number">{cell}</td>' for cell in row) for name, row in rows.items()}
    body = "".join(f"<tr><td>{escape(name)}</td>{row}</tr>" for name, row in cells.items())
    return f'<div class="wide"><table><thead><tr><th>{of}</th>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _kinds(found: Results) -> Iterable[str]:
    if not found.kinds:
        return
    yield "<h2>By kind of question</h2>"
    if found.indexes:  # the names of methods with their settings are too long for the plot
        headings = [f"{kind} ({number:,})" for kind, number in found.kinds.items()]
        by_kind = {one.name: [one.by_kind[kind][found.leading] for kind in found.kinds] for one in found.methods}
        yield _table(headings, {name: [f"{100 * score:.1f}" for score in row] for name, row in by_kind.items()})
        yield f'<p class="dim">{escape(found.leading)}.</p>'
        return
    groups = {
        f"{kind} ({number:,})": [(one.name, one.by_kind[kind][found.leading]) for one in found.methods]
        for kind, number in found.kinds.items()
    }
    yield plots.grouped(groups, f"{found.leading} by kind of question")
    yield f'<p class="dim">{escape(found.leading)}.</p>'


def _costs(found: Results) -> Iterable[str]:
    yield "<h2>What a question takes</h2>"
    headings = ("half within", "95 % within", "statements", "nodes", "passages", "model calls", "tokens", "price")
    yield _table(headings, {one.name: _cost(one, found.questions, found.currency) for one in found.methods})
    if any(one.usage.kept for one in found.methods):
        yield (
            '<p class="dim">Kept replies were given before, to another method or in an earlier run. They took no time '
            "and no money here; a question that is new takes both.</p>"
        )


def _cost(method: MethodResult, questions: int, currency: str) -> tuple[str, ...]:
    used = method.usage
    kept = f" + {used.kept / questions:.1f} kept" if used.kept else ""
    each = None if used.price is None else used.price / questions
    price = "not known" if each is None else money(each, currency) if each else "nothing"
    return (
        f"{1000 * method.p50:,.0f} ms",
        f"{1000 * method.p95:,.0f} ms",
        f"{method.statements:.1f}",
        f"{method.nodes:,.0f}",
        f"{method.passages:.1f}",
        f"{used.calls / questions:.1f}{kept}",
        f"{(used.tokens_in + used.tokens_out) / questions:,.0f}",
        price,
    )


def _tellings(found: Results) -> Iterable[str]:
    if not found.telling:
        return
    yield "<h2>Where they differ most</h2>"
    yield '<p class="dim">What each method found first; supporting ones stand out. Click a question to see.</p>'
    for one in found.telling:
        yield _telling(found, one)


def _telling(found: Results, one: Telling) -> str:
    scores = ", ".join(f"{method.name} {100 * one.scores[method.name]:.0f} %" for method in found.methods)
    supporting = "; ".join(_title(found, id_) for id_ in one.supporting)
    wanted = f"Supporting: {supporting}" if supporting else f"Evidence: {one.evidence}"
    columns = "".join(
        f"<div><strong>{escape(method.name)}</strong>{_found(found, one, method.name)}</div>"
        for method in found.methods
    )
    return (
        f'<details><summary>{escape(one.question)}<br><span class="dim">{escape(scores)}</span></summary>'
        f'<p class="dim">{escape(wanted)}</p><div class="columns">{columns}</div></details>'
    )


def _found(found: Results, one: Telling, method: str) -> str:
    items = []
    for id_ in one.found[method]:
        name = escape(_title(found, id_))
        items.append(f'<li class="hit">✓ {name}</li>' if id_ in one.supporting else f"<li>{name}</li>")
    return f"<ol>{''.join(items)}</ol>" if items else '<p class="dim">nothing</p>'


def _title(found: Results, id_: str) -> str:
    return found.titles.get(id_, id_)


def _how(found: Results) -> Iterable[str]:
    yield "<h2>How it was measured</h2>"
    under = {"Trueweave": found.trueweave, **found.under}
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in under.items())
    rows += "".join(
        f"<tr><th>{escape(one.name)}</th><td><code>"
        f"{escape(json.dumps(one.parameters, default=str, ensure_ascii=False))}</code></td></tr>"
        for one in found.methods
    )
    yield f'<div class="wide"><table><tbody>{rows}</tbody></table></div>'
    for name, reason in found.left_out.items():
        yield f"<p>{escape(name)} was left out: {escape(reason)}</p>"
    for note in found.notes:
        yield f"<p>{escape(note)}</p>"
    if found.judge_prompt:
        yield "<details><summary>The prompt by which answers were judged</summary>"
        yield f"<pre>{escape(found.judge_prompt)}</pre></details>"
    yield (
        '<p class="dim">Each question went to all methods in turn, one call at a time. Intervals are by 2,000 '
        "resamples of the questions, paired for differences; each compares two methods, so among many comparisons "
        "about one in twenty stands out by chance.</p>"
    )
