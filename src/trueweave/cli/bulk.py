"""`trueweave bulk`: load a large corpus on a Ray cluster."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.inputs import named_groups
from trueweave.cli.options import Budget, Extractor, Model, NoIgnore, Readers
from trueweave.cli.pricing import of_documents, read_budget
from trueweave.cli.render.lines import count, next_step, warning
from trueweave.cli.render.money import Allowance
from trueweave.cli.render.run_summary import NAMED, Reason, grouped_lines
from trueweave.cli.session import CommandSession, in_workspace, workspace_command
from trueweave.cli.stopping import budgeted
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from trueweave.core.jobs import BulkReport
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave

Sources = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE", help="Folders, files, Parquet, JSON lines, or addresses such as s3://bucket/key."),
]
Spool = Annotated[
    Path,
    typer.Option(
        metavar="FOLDER", help="The folder for intermediate results; all nodes must share it under this path."
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="The address of the Ray cluster, or auto. Default: start one on this machine."
    ),
]
Gpus = Annotated[float, typer.Option(metavar="N", help="GPUs for each process that extracts and embeds.")]

_SHOWN = 5


@workspace_command
def bulk(
    session: CommandSession,
    sources: Sources,
    spool: Spool = Path("bulk-spool"),
    ray_address: RayAddress = None,
    gpus: Gpus = 0,
    budget: Budget = None,
    extractor: Extractor = None,
    model: Model = None,
    no_ignore: NoIgnore = False,
    readers: Readers = None,
) -> None:
    """Load a large corpus on a Ray cluster, beside the workspace, and switch to it at the end.

    The new index is built from these sources and all documents of the workspace, and then replaces the old one
    atomically. Until then it is not visible, and questions are answered as before. To resume an interrupted load, run
    it again with the same spool folder; nothing is paid for twice.

    Exits with 0 when everything was loaded, and with 1 when some documents could not be loaded; the others are loaded.
    """
    session = session.with_workspace_settings(extractor=extractor, model=model, no_ignore=no_ignore)
    allowance = read_budget(budget, session.settings, of_documents(session.settings))
    report = _loaded(session.settings, sources, spool, ray_address, gpus, allowance, named_groups(readers))
    answer = {
        "documents": report.documents,
        "kept": report.kept,
        "chunks": report.chunks,
        "names": report.names,
        "entities": report.entities,
        "failed": [{"document": where, "reason": reason} for where, reason in report.failed],
        "skipped": [{"file": path, "reason": reason} for path, reason in report.skipped],
    }
    session.reply(answer, *_told(report), next_step("trueweave ask QUESTION"))
    if report.failed:
        raise typer.Exit(1)


def _loaded(
    settings: Settings,
    sources: list[str],
    spool: Path,
    ray_address: str | None,
    gpus: float,
    allowance: Allowance | None,
    readers: list[str] | None,
) -> BulkReport:
    from trueweave.cli.render.progress_bar import stages

    folder = spool.absolute()

    async def load(trueweave: AsyncTrueweave) -> BulkReport:
        async with budgeted(trueweave, allowance):
            with stages() as told:
                return await trueweave.maintenance.bulk_load(
                    sources, folder, ray_address=ray_address, progress=told, gpus=gpus, readers=readers
                )

    try:
        with redirect_stdout(sys.stderr):  # on which Ray reports nodes that died
            return in_workspace(load, settings)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f'bulk loading needs {error.name}, which is not installed. Run: pip install "trueweave[ray]"'
        ) from error


def _told(report: BulkReport) -> list[RenderableType]:
    kept = f", {report.kept:,} of them from before" if report.kept else ""
    made = (count(report.chunks, "chunk"), count(report.names, "name"), count(report.entities, "entity"))
    said: list[RenderableType] = [f"{count(report.documents, 'document')}{kept}: {', '.join(made)}."]
    if report.failed:
        said.append(warning(f"{count(len(report.failed), 'document')} could not be loaded:"))
        said += [f"  {where}: {reason}" for where, reason in report.failed[:_SHOWN]]
        if len(report.failed) > _SHOWN:
            said.append(f"  and {len(report.failed) - _SHOWN:,} more (--json names all)")
    by_reason: dict[str, list[str]] = {}
    for path, reason in report.skipped:
        by_reason.setdefault(reason, []).append(path)
    reasons = [Reason(reason, len(paths), paths[:NAMED]) for reason, paths in by_reason.items()]
    said += grouped_lines(reasons, "file", "skipped", "--json names all")
    return said
