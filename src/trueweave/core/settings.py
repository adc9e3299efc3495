"""Settings: the only reader of the environment, and the only reader and writer of trueweave.toml."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar, get_args

from anyascii import anyascii
from pydantic import Field, IPvAnyNetwork, PrivateAttr, StringConstraints, TypeAdapter, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from trueweave.core import machine
from trueweave.core.errors import ConfigError
from trueweave.core.functional import Uniqueness
from trueweave.core.model_calls import ModelRole
from trueweave.core.model_options import ModelOptions
from trueweave.core.record import Resolution

FILE = "trueweave.toml"
PREFIX = "TRUEWEAVE_"
KEY_VARIABLE = r"^[A-Z][A-Z0-9_]*(KEY|TOKEN)$"  # settings of a workspace can read no other variable
EXAMPLE_URL = "postgresql://user:password@host:5432/database"

_SERVER = r"^[a-z][a-z0-9_-]{0,62}$"
_VARIABLE = r"^[A-Z][A-Z0-9_]*$"
_BESIDE_CONTEXT = 8000  # tokens for a question, its instructions and the prompt itself
_PATHS = ("data_directory", "bench_data", "model_folder", "project_folder", "prompt_folder", "signing_key_file")
_POSTGRESQL = ("postgresql://", "postgres://")

T = TypeVar("T")
_PROCESS = "of the process"
ProcessWide = Annotated[T, _PROCESS]
"""A setting of the process, its machine or its files, the same for all workspaces; `resolution` is for new ones."""


class ServerAddress(NamedTuple):
    """The addresses of a PostgreSQL server: for ordinary use, without the pooler, and for the owner of the schema."""

    url: str
    direct_url: str | None
    owner_url: str


class Settings(BaseSettings):
    """All settings. In order of precedence: given by the caller, of the workspace, in the environment, in the file
    trueweave.toml, default. `over` applies those of the workspace, which are stored in the database."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True)

    database_url: ProcessWide[str | None] = Field(
        default=None,
        repr=False,  # it may hold a password
        description="The PostgreSQL database to use. Without it, Trueweave runs the bundled PostgreSQL.",
        examples=[EXAMPLE_URL],
    )
    direct_database_url: ProcessWide[str | None] = Field(
        default=None,
        repr=False,
        description="The address of PostgreSQL itself, if database_url is that of a pooler such as PgBouncer.",
        examples=[EXAMPLE_URL],
    )
    owner_database_url: ProcessWide[str | None] = Field(
        default=None,
        repr=False,
        description="The address of PostgreSQL itself with the user who owns the schema, if the user of "
        "database_url may not change it. Only `init`, `migrate`, `server` and most `workspace` commands use it.",
        examples=[EXAMPLE_URL],
    )
    standby_urls: ProcessWide[tuple[str, ...]] = Field(
        default=(),
        repr=False,
        description="Addresses of standbys, copies of the database by streaming replication, that questions are "
        "read from. Everything else goes to the primary, at database_url.",
        examples=[["postgresql://user:password@standby:5432/database"]],
    )
    standby_lag_seconds: ProcessWide[float] = Field(
        default=2.0,
        gt=0,
        description="Maximum lag of a standby behind the primary, in seconds. A standby that is further behind "
        "is not used.",
    )
    standby_wait: ProcessWide[float] = Field(
        default=0.25,
        ge=0,
        description="Seconds that a question waits for a standby to replay everything committed before the "
        "question was asked. After that the primary answers it.",
    )
    standby_connections: ProcessWide[int] = Field(
        default=10, ge=1, description="Maximum connections of a process to each standby, for questions."
    )
    workspace: ProcessWide[str] = Field(
        default="default",
        min_length=1,
        description="The workspace to use: one of the indexes in the same database. Without it, a separate "
        "workspace for this file's folder.",
    )
    project_folder: ProcessWide[Path | None] = Field(
        default=None,
        description="The folder that file names are relative to: a document's uri is its path from there. "
        "Without it, this file's folder.",
        examples=["."],
    )
    follow_links: ProcessWide[bool] = Field(
        default=False,
        description="Whether to follow symbolic links in folders that are added, even to targets outside the folder.",
    )
    no_ignore: ProcessWide[bool] = Field(
        default=False,
        description="Whether to read files that .gitignore or .trueweaveignore excludes, or that contain keys or "
        "secrets.",
    )
    ocr: ProcessWide[str] = Field(
        default="auto",
        pattern=r"^(auto|rapidocr|tesseract(:[A-Za-z_]+(\+[A-Za-z_]+)*)?|off)$",
        description="The text recognition for scanned pages and images: rapidocr, tesseract (with its languages, as in "
        "tesseract:deu+eng), off, or auto, which is whichever of the two is installed.",
    )
    source_networks: ProcessWide[tuple[IPvAnyNetwork, ...]] = Field(
        default=(),
        description="Private networks that addresses of documents may lead to. Without any, nothing is fetched from "
        "loopback, private, link-local and other reserved addresses.",
        examples=[["10.20.0.0/16"]],
    )
    source_max_bytes: ProcessWide[int] = Field(
        default=64 * 2**20, ge=1024, description="Maximum bytes of one page or file that is fetched from an address."
    )
    source_max_items: ProcessWide[int] = Field(
        default=100_000, ge=1, description="Maximum pages or files of one address. More are not read."
    )
    source_seconds: ProcessWide[float] = Field(
        default=60.0, gt=0, description="Maximum seconds for fetching one page or file, redirects included."
    )
    source_pause: ProcessWide[float] = Field(
        default=0.5,
        ge=0,
        description="Seconds between two requests to the same host, at least. A longer crawl delay in the robots.txt "
        "of a site is kept to, up to 30 seconds.",
    )
    source_connectors: ProcessWide[dict[str, tuple[str, ...]]] = Field(
        default={},
        description="Connectors that callers of a server may use for sources, by workspace: the schemes of their "
        "addresses. `*` stands for all workspaces. Without any, callers cannot add sources. Sources that are added on "
        "the command line or in Python, beside the database, need no permission.",
        examples=[{"*": ["https", "sitemap+https"], "handbook": ["git+https"]}],
    )
    source_variables: ProcessWide[dict[str, tuple[str, ...]]] = Field(
        default={},
        description="Environment variables that callers of a server may use as credentials of sources, by workspace. "
        "`*` stands for all workspaces.",
        examples=[{"handbook": ["HANDBOOK_TOKEN"]}],
    )
    webhook_hosts: ProcessWide[dict[str, tuple[str, ...]]] = Field(
        default={},
        description="Hosts that callers of a server may have alerts sent to, by workspace. `*` stands for all "
        "workspaces. Without any, their watches have no webhooks. Those that are added on the command line or in "
        "Python, beside the database, need no permission. Private addresses must be in source_networks as well.",
        examples=[{"*": ["hooks.example.com"]}],
    )
    model: str | None = Field(
        default=None,
        description="The language model, as provider/model. Without it, nothing is sent to a language model.",
        examples=["ollama/llama3.1:8b"],
    )
    model_url: str | None = Field(
        default=None,
        description="The address of the model's server, if it is not the provider's usual one.",
        examples=["http://127.0.0.1:8000/v1"],
    )
    model_key_variable: str | None = Field(
        default=None,
        pattern=KEY_VARIABLE,
        description="The environment variable with the model's API key, if it is not the provider's usual one.",
        examples=["TENANT_API_KEY"],
    )
    context_length: int | None = Field(
        default=None,
        ge=1024,
        description="Maximum tokens of prompt and reply together; passed to Ollama as num_ctx. Without it, "
        "16,384 for Ollama.",
        examples=[8192],
    )
    embedding_model: str | None = Field(
        default=None,
        description="The embedding model: local/ and a name from `trueweave models list`, which is downloaded on "
        "first use; provider/model; or onnx/ and a folder with model.onnx and tokenizer.json.",
        examples=["local/bge-small-en-v1.5"],
    )
    model_folder: ProcessWide[Path | None] = Field(
        default=None,
        description="The folder with the local/ models, one subfolder per model, relative to this file's folder. "
        "Nothing is downloaded then. Without it, a per-user cache.",
        examples=["models"],
    )
    embedding_url: str | None = Field(
        default=None,
        description="The address of the embedding model's server, if it is not the provider's usual one.",
        examples=["http://127.0.0.1:8000/v1"],
    )
    embedding_key_variable: str | None = Field(
        default=None,
        pattern=KEY_VARIABLE,
        description="The environment variable with the embedding model's API key, if it is not the provider's "
        "usual one.",
        examples=["TENANT_API_KEY"],
    )
    embedding_query_prefix: str | None = Field(
        default=None,
        description="Prefix for queries. Without it, the prefix that a known model was trained with, or none.",
        examples=["search_query: "],
    )
    embedding_document_prefix: str | None = Field(
        default=None,
        description="Prefix for stored texts. Without it, the prefix that a known model was trained with, or "
        "none. After changing it, run `trueweave reembed`, as for another model.",
        examples=["search_document: "],
    )
    reranker: str | None = Field(
        default=None,
        description="The reranker of passages: provider/model, onnx/ and the folder of a cross-encoder, or llm "
        "for the language model.",
        examples=["onnx/models/ms-marco-MiniLM-L6-v2"],
    )
    reranker_url: str | None = Field(
        default=None,
        description="The address of the reranker's server, if it is not the provider's usual one.",
        examples=["http://127.0.0.1:8000/v1"],
    )
    reranker_key_variable: str | None = Field(
        default=None,
        pattern=KEY_VARIABLE,
        description="The environment variable with the reranker's API key, if it is not the provider's usual one.",
        examples=["TENANT_API_KEY"],
    )
    verifiers: tuple[str, ...] = Field(
        default=("rules",),
        description="The verifiers of the sentences of answers, in order: rules; onnx/ and the folder of a "
        "natural language inference model; llm for the language model.",
        examples=[["rules", "llm"]],
    )
    repair: bool = Field(default=False, description="Whether to send unconfirmed sentences to the model once more.")
    method: str | None = Field(
        default=None,
        description="The method that answers questions: `trueweave methods` lists them. Without it, auto.",
        examples=["hybrid"],
    )
    extractor: str = Field(
        default="auto",
        description="How entities and relations are found: llm with the language model, nlp with spaCy, capitals "
        "by capitalised phrases, or the name of a plugin. auto is llm if a model is set, and capitals if not.",
    )
    graph_vectors: bool = Field(
        default=False,
        description="Whether new workspaces embed entities and relations when documents are added, for methods that "
        "search these. Without it, `trueweave vectors make` embeds them.",
    )
    chunker: str = Field(
        default="structure",
        description="How documents are split into chunks: structure splits at headings, paragraphs and "
        "sentences, semantic where the vectors of adjacent sentences differ; or the name of a plugin.",
    )
    break_percentile: float = Field(
        default=10.0,
        gt=0,
        lt=100,
        description="Percentage of sentence boundaries where the semantic chunker may end a chunk: those with "
        "the least similar neighbours.",
    )
    relation_patterns: tuple[tuple[str, str, str], ...] = Field(
        default=(),
        description="Allowed combinations of types: source entity, relation, target entity. A relation type "
        "without a pattern is allowed between any types.",
        examples=[[["person", "works for", "organization"]]],
    )
    strict_schema: bool = Field(
        default=False,
        description="Whether to drop entities and relations from a model that have none of the entity_types and "
        "relation_types or match none of the relation_patterns. If false, they are kept, with a note.",
    )
    pipeline: str = Field(default="en_core_web_sm", description="The spaCy pipeline of the nlp extractor.")
    prompt_folder: ProcessWide[Path | None] = Field(
        default=None,
        description="The folder with your own prompts, relative to this file's folder: NAME.md replaces the "
        "built-in prompt of that name. `trueweave prompts list` shows them.",
        examples=["prompts"],
    )
    resolution: ProcessWide[Resolution] = Field(
        default="exact",
        description="Which names are merged into one entity in a new workspace: exact merges names that differ "
        "only in case, accents, punctuation, spacing and legal forms; fuzzy also merges similar names; off merges "
        "none. `trueweave resolution` changes an existing workspace.",
    )
    short_names: bool = Field(
        default=True,
        description="Whether a short name of a person counts as the full name within a document: Koestler as Arthur "
        "Koestler, if the document calls nobody else so.",
    )
    max_gleaning: int = Field(
        default=1, ge=1, le=5, description="How many times the model looks for entities and relations in each chunk."
    )
    max_paths_per_chunk: int = Field(
        default=20, ge=1, le=200, description="Maximum relations kept per chunk, strongest first."
    )
    min_chunk_size: int = Field(
        default=400, ge=1, description="Minimum tokens of a chunk; a smaller chunk is merged with the next."
    )
    max_chunk_size: int = Field(default=800, ge=16, description="Maximum tokens of a chunk.")
    extraction_chunk_size: int | None = Field(
        default=None,
        ge=16,
        description="Maximum tokens that the extractor llm reads at once: neighbouring chunks are put together up to "
        "this. Without it, each chunk is read by itself.",
        examples=[2400],
    )
    chunk_overlap: int = Field(
        default=0,
        ge=0,
        description="Tokens of the previous chunk that a chunk repeats. Facts in the overlap are counted twice.",
    )
    max_community_size: int = Field(
        default=10, ge=2, description="Maximum entities of a community; larger communities are divided if possible."
    )
    report_tokens: int = Field(
        default=8000, ge=1000, description="Maximum tokens of facts that a community report is written from."
    )
    max_reply_tokens: int = Field(default=4096, ge=256, description="Maximum tokens of a model's reply.")
    max_context_tokens: int = Field(
        default=6000,
        ge=256,
        description="Maximum tokens of evidence and conversation shown to the model for an answer.",
    )
    max_question_tokens: int | None = Field(
        default=None,
        ge=256,
        description="Maximum tokens of one prompt for a question: instructions, conversation, evidence and the "
        "question itself. A longer prompt fails before any call. Without it, max_context_tokens + 8,000.",
        examples=[14000],
    )
    max_answer_tokens: int = Field(
        default=2000, ge=16, description="Maximum tokens of an answer, including the model's reasoning."
    )
    deadline: float = Field(default=300.0, gt=0, description="Timeout of a model call in seconds.")
    calls_at_once: int = Field(
        default=16, ge=1, le=1000, description="Maximum concurrent calls to one model, over all workers."
    )
    requests_per_minute: int | None = Field(
        default=None, ge=1, description="Maximum calls to one model per minute, over all workers.", examples=[500]
    )
    tokens_per_minute: int | None = Field(
        default=None,
        ge=1000,
        description="Maximum tokens to and from one model per minute, over all workers.",
        examples=[200000],
    )
    model_tries: int = Field(default=10, ge=1, description="Maximum attempts per model call.")
    jobs_at_once: int | None = Field(
        default=None,
        ge=1,
        description="Maximum concurrent jobs of one workspace, over all workers. A worker for all workspaces "
        "uses at most half of its slots for one workspace.",
        examples=[8],
    )
    tries: int = Field(
        default=3, ge=1, description="Attempts after which a document is marked as failed, with its error."
    )
    try_again_after: float = Field(default=5.0, gt=0, description="Seconds before a failed document is retried.")
    graph: Literal["postgresql", "neo4j"] = Field(
        default="postgresql", description="The store used to follow relations and mentions."
    )
    vectors: Literal["postgresql", "chroma"] = Field(
        default="postgresql", description="The store used for vector search."
    )
    neo4j_url: ProcessWide[str | None] = Field(
        default=None,
        repr=False,  # it may hold a password
        description="The address of Neo4j, if it has a copy of the graph.",
        examples=["neo4j://user:password@host:7687/neo4j"],
    )
    chroma_url: ProcessWide[str | None] = Field(
        default=None,
        description="The address of Chroma, if it has a copy of the vectors; or a folder, relative to this "
        "file's folder, for Chroma inside the process.",
        examples=["http://127.0.0.1:8000"],
    )
    chroma_key_variable: ProcessWide[str | None] = Field(
        default=None,
        pattern=KEY_VARIABLE,
        description="The environment variable with Chroma's token, if it requires one.",
        examples=["CHROMA_TOKEN"],
    )
    projection_wait: float = Field(
        default=0.0,
        ge=0,
        description="Seconds that a question waits for Neo4j or Chroma to have everything written before the "
        "question was asked; after that it fails. 0 does not wait.",
    )
    currency: str = Field(
        default="USD", pattern="^[A-Z]{3}$", description="The currency of prices and budgets, as a three-letter code."
    )
    reply_days: int = Field(
        default=30,
        ge=1,
        description="Days to keep model replies to questions, vectors of texts, and replies about texts that "
        "have changed since. Extraction replies are kept as long as their text.",
    )
    log_days: int = Field(
        default=30,
        ge=1,
        description="Days to keep the list of changes, document jobs, and the server's audit log.",
    )
    spend_days: int = Field(
        default=90, ge=1, description="Days to keep spending per call; after that it is kept in daily sums."
    )
    lease: ProcessWide[float] = Field(
        default=15.0,
        ge=1,
        description="Seconds after which an unresponsive process loses its leases.",
    )
    connections: ProcessWide[int | None] = Field(
        default=None,
        ge=1,
        description="Maximum connections of a process to each PostgreSQL server. Without it, 4 per core or 1 "
        "per 4 jobs of a worker, whichever is more, from 10 to 40.",
        examples=[20],
    )
    worker_jobs: ProcessWide[int | None] = Field(
        default=None,
        ge=1,
        description="Maximum concurrent jobs of one worker. Without it, 12 per core, at most 96.",
        examples=[24],
    )
    index_memory_bytes: ProcessWide[int | None] = Field(
        default=None,
        ge=16 * 2**20,
        description="Bytes of memory that PostgreSQL may use to build one vector index; up to 4 are built at the "
        "same time. Without it, a sixteenth of the memory for the bundled PostgreSQL, from 64 MB to 1 GB, and 1 GB "
        "for any other.",
        examples=[512 * 2**20],
    )
    statement_timeout: ProcessWide[float] = Field(
        default=600.0, ge=0, description="Statement timeout in seconds. 0 disables it."
    )
    lock_timeout: ProcessWide[float] = Field(default=300.0, ge=0, description="Lock timeout in seconds. 0 disables it.")
    idle_timeout: ProcessWide[float] = Field(
        default=60.0, ge=0, description="Seconds after which PostgreSQL ends an idle transaction."
    )
    slow_statement_seconds: ProcessWide[float] = Field(
        default=1.0,
        ge=0,
        description="Statements that take at least this many seconds are logged at level INFO. 0 disables it.",
    )
    max_upload_bytes: ProcessWide[int] = Field(
        default=100 * 2**20, ge=1, description="Maximum bytes of one upload to the server, over all its files."
    )
    max_unpacked_bytes: ProcessWide[int | None] = Field(
        default=None,
        ge=1,
        description="Maximum bytes that the packed files of one upload may unpack to. Without it, ten times "
        "max_upload_bytes.",
        examples=[2**30],
    )
    max_reading_seconds: ProcessWide[float] = Field(
        default=60.0, gt=0, description="Maximum seconds that a server spends reading the files of one upload."
    )
    uploads_at_once: ProcessWide[int] = Field(
        default=4,
        ge=2,
        description="Uploads that a server reads at the same time. One key may use half of them; its other "
        "uploads wait.",
    )
    max_header_bytes: ProcessWide[int] = Field(
        default=64 * 2**10, ge=1024, description="Maximum bytes of the headers of a request to the server."
    )
    first_request_seconds: ProcessWide[float] = Field(
        default=10.0,
        gt=0,
        description="Seconds after which the server closes a connection if the headers of a request have not arrived.",
    )
    connections_per_address: ProcessWide[int] = Field(
        default=128,
        ge=0,
        description="Maximum connections of one address to each server. A proxy is one address: raise it to the "
        "number of connections that the proxy opens. 0 is unlimited.",
    )
    key_requests_at_once: ProcessWide[int] = Field(
        default=256, ge=1, description="Maximum concurrent requests of one key at each server."
    )
    key_requests_per_minute: ProcessWide[int | None] = Field(
        default=None, ge=1, description="Maximum requests of one key per minute at each server.", examples=[600]
    )
    past_indexes: ProcessWide[int] = Field(
        default=2,
        ge=0,
        description="Maximum indexes of past times that each server keeps open for requests that ask for one. 0: "
        "none, and such requests are refused.",
    )
    key_questions_at_once: ProcessWide[int | None] = Field(
        default=None, ge=1, description="Maximum concurrent questions of one key at each server.", examples=[8]
    )
    key_tokens_per_day: ProcessWide[int | None] = Field(
        default=None,
        ge=0,
        description="Maximum tokens per key, or per holder of tokens, and day (UTC), over all servers. The limit of a "
        "key can only be lower.",
        examples=[1_000_000],
    )
    key_spend_per_day: ProcessWide[Decimal | None] = Field(
        default=None, ge=0, description="Maximum spend per key and day (UTC), like key_tokens_per_day.", examples=[5]
    )
    workspace_questions_at_once: int | None = Field(
        default=None,
        ge=1,
        description="Maximum concurrent questions in one workspace at each server.",
        examples=[32],
    )
    max_storage_bytes: int | None = Field(
        default=None,
        ge=0,
        description="Maximum bytes of text in a workspace. Adding more is refused.",
        examples=[10 * 2**30],
    )
    public_url: ProcessWide[str | None] = Field(
        default=None,
        description="The https address under which browsers reach the server through a proxy, without a path. Browsers "
        "can log in only there, or with `trueweave ui`.",
        examples=["https://trueweave.example.com"],
    )
    oidc_issuer: ProcessWide[str | None] = Field(
        default=None,
        description="The issuer of the identity provider (OpenID Connect) whose tokens the server accepts as "
        "well as keys.",
        examples=["https://id.example.com/realms/acme"],
    )
    oidc_audience: ProcessWide[str | None] = Field(
        default=None,
        description="The audience that tokens must have: the provider's name for this server.",
        examples=["https://trueweave.example.com"],
    )
    oidc_algorithms: ProcessWide[
        tuple[Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"], ...]
    ] = Field(
        default=("RS256", "PS256", "ES256", "EdDSA"),
        min_length=1,
        description="Accepted signature algorithms of tokens.",
    )
    oidc_workspaces_claim: ProcessWide[str] = Field(
        default="trueweave_workspaces",
        min_length=1,
        description="The claim with the names of the workspaces that a token is valid for: a list, or one name. "
        "* is all. Dots separate nested claims.",
        examples=["resource_access.trueweave.workspaces"],
    )
    oidc_scope_claim: ProcessWide[str] = Field(
        default="scope",
        min_length=1,
        description="The claim with the scope of a token, trueweave:read, trueweave:write or trueweave:admin: a "
        "list, or words separated by spaces. Dots separate nested claims.",
        examples=["realm_access.roles"],
    )
    oidc_groups_claim: ProcessWide[str] = Field(
        default="trueweave_groups",
        min_length=1,
        description="The claim with the groups that a token reads as: a list, or one name. * reads all documents. "
        "Without the claim, it reads documents without readers. Dots separate nested claims.",
        examples=["groups"],
    )
    oidc_client_id: ProcessWide[str | None] = Field(
        default=None,
        min_length=1,
        description="The name of this server as a client of the identity provider. If it is set, browsers can log in "
        "there. The provider must know the address PUBLIC_URL/v1/session/callback.",
        examples=["trueweave"],
    )
    oidc_client_secret_variable: ProcessWide[str | None] = Field(
        default=None,
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="The environment variable with the secret of this client, if the provider gave it one.",
        examples=["OIDC_CLIENT_SECRET"],
    )
    oidc_login_scopes: ProcessWide[tuple[str, ...]] = Field(
        default=("trueweave:read", "trueweave:write", "trueweave:admin"),
        description="The scopes that the server requests for a browser that logs in, besides openid. The provider "
        "grants those that the user has.",
    )
    metrics_host: ProcessWide[str] = Field(
        default="127.0.0.1",
        description="The address that metrics_port listens on. It requires no key: make it reachable for "
        "Prometheus only.",
    )
    metrics_port: ProcessWide[int | None] = Field(
        default=None,
        ge=1,
        le=65535,
        description="The port on which a server or a worker exposes Prometheus metrics. Without it, none.",
        examples=[9464],
    )
    log_format: ProcessWide[Literal["text", "json"]] = Field(
        default="text",
        description="The format in which a server or a worker logs to stderr: lines of text, or only JSON.",
    )
    trace_content: bool = Field(
        default=False,
        description="Whether spans of calls to language models contain the prompts and replies: passages, questions "
        "and answers. Whoever sees the traces can then read the documents.",
    )
    drain_seconds: ProcessWide[float] = Field(
        default=0.0,
        ge=0,
        description="Seconds for which a stopping server reports that it is not ready but still answers, so that "
        "load balancers stop sending requests.",
    )
    shutdown_seconds: ProcessWide[int] = Field(
        default=30,
        ge=1,
        description="Seconds within which a server stops after that. Requests and jobs in progress have all but "
        "the last 5 seconds (at most a third) to finish, and are then cancelled.",
    )
    signing_key_file: ProcessWide[Path | None] = Field(
        default=None,
        description="The file with the private key (Ed25519, PEM) that certificates of erasure and records of answers "
        "are signed with, relative to this file's folder. `openssl genpkey -algorithm ed25519` makes one.",
        examples=["signing-key.pem"],
    )
    data_directory: ProcessWide[Path | None] = Field(
        default=None,
        description="The folder of the bundled PostgreSQL, relative to this file's folder. Without it, trueweave "
        "in XDG_DATA_HOME or the user's data folder; for root, /var/lib/trueweave.",
        examples=["trueweave-data"],
    )
    bench_data: ProcessWide[Path | None] = Field(
        default=None,
        description="The folder of question sets that `trueweave bench` knows by name, relative to this file's folder.",
        examples=["bench"],
    )

    entity_types: dict[str, str] = Field(
        default={
            "person": "a human being, real or fictional",
            "organization": "a company, institution, government body, team or other group that acts as one",
            "place": "a country, city, building, landscape or other location",
            "event": "something that happened at some time: a meeting, war, launch, election",
            "work": "something made: a product, book, film, law, technology, piece of software",
            "concept": "an idea, method, field, disease, substance or other notion that the text speaks of",
        },
        description="The types of entities that the model looks for, each with a description.",
    )
    relation_types: dict[str, str] = Field(
        default={},
        description="The types of relations that the model looks for, each with a description. Without any, "
        "relations have only descriptions and themes. The type of a relation is its first theme.",
        examples=[{"works for": "somebody is employed there"}],
    )
    functional_relations: dict[str, Uniqueness] = Field(
        default={},
        description="The types of relations of which an entity has only one, for `trueweave conflicts`: one target "
        "(each source has one), one source (each target has one) or, if it may change, one target at a time or one "
        "source at a time. Nothing is extracted again after a change.",
        examples=[{"born in": "one target", "chief executive of": "one source at a time"}],
    )
    models: dict[ModelRole, str] = Field(
        default={},
        description="Language models for single roles, if other than model: extract finds entities and "
        "relations, keywords is called while methods search, answer answers, report writes community reports, "
        "judge checks answers. vision describes the pictures of documents: a model that takes images; only a "
        "model that is named for this role is given pictures.",
        examples=[{"answer": "anthropic/claude-sonnet-4-5", "keywords": "ollama/llama3.1:8b"}],
    )
    model_options: dict[ModelRole, ModelOptions] = Field(
        default={},
        description="Options of language models, by role: think (whether a model that can think does so before it "
        "replies), top_p and seed. An option that the provider of the model does not have is an error. Documents are "
        "out of date after a change of those for extract.",
        examples=[{"extract": {"think": False, "seed": 7}, "answer": {"top_p": 0.9}}],
    )
    model_urls: dict[str, str] = Field(
        default={},
        description="Addresses of language models, by model or provider name, if neither model_url nor the "
        "provider's usual address is right. model_url is for the provider of model.",
        examples=[{"vllm": "http://127.0.0.1:8000/v1"}],
    )
    model_key_variables: dict[str, Annotated[str, StringConstraints(pattern=KEY_VARIABLE)]] = Field(
        default={},
        description="Environment variables with API keys, by model or provider name.",
        examples=[{"vllm": "VLLM_API_KEY"}],
    )
    prices: dict[str, tuple[Decimal, Decimal]] = Field(
        default={},
        description="Prices per million tokens: input and output. Models on your own machine cost nothing.",
        examples=[{"openai/some-model": [0.5, 2.0]}],
    )

    server_urls: ProcessWide[dict[str, str]] = Field(
        default={},
        repr=False,
        description="More PostgreSQL servers for workspaces, by names of your choice: the address of each, or "
        "the environment variable that holds it. The database of database_url is their home.",
        examples=[{"east": "TRUEWEAVE_EAST_URL"}],
    )
    direct_server_urls: ProcessWide[dict[str, str]] = Field(
        default={},
        repr=False,
        description="Addresses of PostgreSQL itself, by server name, if those of server_urls are of poolers.",
        examples=[{"east": "TRUEWEAVE_EAST_DIRECT_URL"}],
    )
    owner_server_urls: ProcessWide[dict[str, str]] = Field(
        default={},
        repr=False,
        description="Addresses with the users who own the schemas, by server name. Only `migrate` and `workspace "
        "move` use them.",
        examples=[{"east": "TRUEWEAVE_EAST_OWNER_URL"}],
    )
    server_standby_urls: ProcessWide[dict[str, tuple[str, ...]]] = Field(
        default={},
        repr=False,
        description="Addresses of the standbys of each server of server_urls, by server name, like standby_urls "
        "for the home.",
        examples=[{"east": ["postgresql://user:password@east-standby:5432/database"]}],
    )

    _given: frozenset[str] = PrivateAttr(default=frozenset())  # by the caller of `load`

    @field_validator("database_url", "direct_database_url", "owner_database_url")
    @classmethod
    def _is_of_postgresql(cls, url: str | None) -> str | None:
        if url is not None and url.startswith(("https://", "http://")):
            raise ValueError(f"must look like {EXAMPLE_URL}; a server's address is for trueweave.connect and Client")
        if url is not None and not url.startswith(_POSTGRESQL):
            raise ValueError(f"must look like {EXAMPLE_URL}")
        return url

    @field_validator("standby_urls")
    @classmethod
    def _are_of_postgresql(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            cls._is_of_postgresql(url)
        return urls

    @field_validator("server_standby_urls")
    @classmethod
    def _all_are_of_postgresql(cls, urls: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        return {name: cls._are_of_postgresql(some) for name, some in urls.items()}

    @field_validator("server_urls", "direct_server_urls", "owner_server_urls")
    @classmethod
    def _are_servers(cls, urls: dict[str, str]) -> dict[str, str]:
        for name, url in urls.items():
            if not re.match(_SERVER, name) or name == "home":
                raise ValueError(
                    f"{name!r} is not a valid server name: use lower-case letters, digits, - and _, and not home"
                )
            if not url.startswith(_POSTGRESQL) and not re.match(_VARIABLE, url):
                raise ValueError(f"{name} must look like {EXAMPLE_URL}, or be the name of an environment variable")
        return urls

    def server(self, name: str) -> ServerAddress:
        """The addresses of a server of server_urls. ConfigError if it is not there or its variable is not set."""
        if name not in self.server_urls:
            raise ConfigError(
                f"there is no server {name!r} in the settings. Put its address under [server_urls] in {FILE}."
            )
        url, direct, owner = (
            _address(name, setting, urls.get(name))
            for setting, urls in (
                ("server_urls", self.server_urls),
                ("direct_server_urls", self.direct_server_urls),
                ("owner_server_urls", self.owner_server_urls),
            )
        )
        assert url, "it was looked for above"
        return ServerAddress(url, direct, owner or direct or url)

    @property
    def jobs_of_a_worker(self) -> int:
        """The maximum number of concurrent jobs of one worker."""
        return self.worker_jobs or min(12 * machine.cores(), 96)

    @property
    def pool_size(self) -> int:
        """The maximum number of connections of a process to each PostgreSQL server."""
        return self.connections or min(max(10, 4 * machine.cores(), self.jobs_of_a_worker // 4), 40)

    def index_memory(self, *, bundled: bool) -> int:
        """Bytes that PostgreSQL may use to build one index: the bundled one is on this machine."""
        by_default = min(max(machine.memory() // 16, 64 * 2**20), 2**30) if bundled else 2**30
        return self.index_memory_bytes or by_default

    @property
    def owner_address(self) -> str | None:
        """The address of PostgreSQL itself with the user who owns the schema; None for the bundled one."""
        return self.owner_database_url or self.direct_database_url or self.database_url

    @property
    def question_tokens(self) -> int:
        """The maximum number of tokens of one prompt for a question."""
        return self.max_question_tokens or self.max_context_tokens + _BESIDE_CONTEXT

    def model_for(self, role: ModelRole) -> str | None:
        """The name of the language model for a role: its own, or the general one. Pictures have only their own, because
        the general one may not take any."""
        return self.models.get(role, None if role == "vision" else self.model)

    def options_for(self, role: ModelRole) -> ModelOptions:
        """The options of the language model in a role."""
        return self.model_options.get(role, {})

    @property
    def chat_models(self) -> dict[str, tuple[ModelRole, ...]]:
        """The names of all language models, each with its roles."""
        found: dict[str, tuple[ModelRole, ...]] = {}
        for role in get_args(ModelRole):
            if name := self.model_for(role):
                found[name] = (*found.get(name, ()), role)
        return found

    @classmethod
    def load(
        cls,
        *,
        database_url: str | None = None,
        workspace: str | None = None,
        extractor: str | None = None,
        model: str | None = None,
        follow_links: bool | None = None,
        no_ignore: bool | None = None,
    ) -> Self:
        """The settings that apply here. None leaves a setting to the environment and the file."""
        named = {"database_url": database_url, "workspace": workspace, "extractor": extractor, "model": model}
        switches = {"follow_links": follow_links, "no_ignore": no_ignore}
        given = {name: value for name, value in {**named, **switches}.items() if value is not None}
        try:
            return cls.model_validate(given).given(given)
        except ValidationError as error:
            problems = [(str(e["loc"][0]), e["msg"].removeprefix("Value error, ")) for e in error.errors()]
            raise ConfigError(
                "; ".join(f"{name}{_where(name, name in given)}: {problem}" for name, problem in problems)
            ) from error

    def __eq__(self, other: object) -> bool:
        """Whether all values are the same, regardless of their source."""
        return isinstance(other, Settings) and self.__dict__ == other.__dict__

    def given(self, changes: Mapping[str, Any]) -> Self:
        """These settings with the caller's own values, which settings of a workspace do not override."""
        update = _for_all_roles(changes, self.models)
        made = self.model_copy(update=update)
        made._given = self._given | update.keys()  # noqa: SLF001 (its own)
        return made

    def over(self, stored: Mapping[str, Any]) -> Self:
        """These settings with those of a workspace, except where the caller has given a value."""
        changes = {name: value for name, value in stored.items() if name not in self._given}
        if not changes:
            return self
        found = workspace_settings(changes)
        return self.model_copy(update=found if "models" in self._given else _for_all_roles(found, self.models))

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, InitSettingsSource(settings_cls, _read(find_file()))


def _for_all_roles(changes: Mapping[str, Any], models: Mapping[ModelRole, str]) -> dict[str, Any]:
    """A model without models for single roles applies to all roles but vision, and overrides those of lower
    precedence."""
    kept = {role: name for role, name in models.items() if role == "vision"}
    return {"models": kept, **changes} if changes.get("model") else dict(changes)


PROCESS_WIDE = frozenset(name for name, field in Settings.model_fields.items() if _PROCESS in field.metadata)


def workspace_settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The validated settings of a workspace. ConfigError for a setting that a workspace cannot have."""
    found: dict[str, Any] = {}
    for name, value in stored.items():
        field = Settings.model_fields.get(name)
        if field is None or name in PROCESS_WIDE:
            known = ", ".join(one for one in Settings.model_fields if one not in PROCESS_WIDE)
            raise ConfigError(f"{name} is not a setting of a workspace. Settings of a workspace are: {known}.")
        try:
            found[name] = _adapter(name).validate_python(value)
        except ValidationError as error:
            raise ConfigError(f"{name} of the workspace: {error.errors()[0]['msg']}") from error
    return found


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    """The validator of one setting."""
    field = Settings.model_fields[name]
    checked: Any = Annotated[field.annotation, field]
    return TypeAdapter(checked)


def find_file() -> Path | None:
    """The trueweave.toml that applies: the one that TRUEWEAVE_CONFIG names, or the nearest in this folder and its
    parents."""
    if named := os.environ.get(f"{PREFIX}CONFIG"):
        if not Path(named).is_file():
            raise ConfigError(
                f"{PREFIX}CONFIG names {named}, which does not exist. Create that file, or unset the variable."
            )
        return Path(named).absolute()
    here = Path.cwd()
    return next((folder / FILE for folder in (here, *here.parents) if (folder / FILE).is_file()), None)


def settings_of_file(path: Path) -> Settings:
    """The settings in one file alone: neither the environment nor the current folder changes them."""
    return _SettingsOfFile.model_validate(_read(path))


class _SettingsOfFile(Settings):
    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def write_file(
    path: Path,
    *,
    database_url: str | None = None,
    workspace: str | None = None,
    model: str | None = None,
    embedding_model: str | None = None,
) -> None:
    """Write a new trueweave.toml with the settings that most people need, commented out if no value is given.

    Only the user may read it, because a database URL may hold a password. An existing file is an error.
    """
    given = {"database_url": database_url, "workspace": workspace, "model": model, "embedding_model": embedding_model}
    lines = [
        f"# Settings of Trueweave for this folder and all below it. Environment variables ({PREFIX}…) override them.",
        "# `trueweave settings --all` lists all of them, and `trueweave settings NAME` explains one.",
    ]
    for name, value in given.items():
        field = Settings.model_fields[name]
        lines += ["", f"# {field.description}", line(name, value) if value else f"# {line(name, _example(field))}"]
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error


def change_file(path: Path, name: str, value: object) -> None:
    """Change a setting in a trueweave.toml, on the line that sets it or has it commented out. None removes it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    end = next((n for n, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    marks = ("",) if value is None else ("", r"#\s*")
    found = [n for mark in marks for n in range(end) if re.match(rf"\s*{mark}{name}\s*=", lines[n])]
    changed = [] if value is None else [line(name, value)]
    at = found[0] if found else end
    lines[at : at + len(found[:1])] = changed
    text = "\n".join(lines) + "\n"
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} has {name} on several lines, so it must be changed there by hand.") from error
    partial = path.with_name(f"{path.name}.part")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.chmod(path.stat().st_mode)
        partial.replace(path)
    except OSError as error:
        how = f"Add this line to it: {changed[0]}" if changed else f"Remove {name} from it."
        raise ConfigError(f"cannot write {path}: {error.strerror}. {how}") from error


def check_setting(name: str, value: object) -> None:
    """ConfigError if there is no such setting or the value is invalid."""
    if name not in Settings.model_fields:
        raise ConfigError(unknown([name]))
    try:
        Settings.model_validate({name: value})
    except ValidationError as error:
        problems = [one["msg"].removeprefix("Value error, ") for one in error.errors() if one["loc"][0] == name]
        if problems:
            raise ConfigError(f"{name} cannot be set to that: {problems[0]}.") from error


def unknown(names: Sequence[str]) -> str:
    """That these are not settings, with the names that may have been meant."""
    found = " ".join(f"{name} is not a setting{_meant(name)}" for name in names)
    return f"{found} `trueweave settings --all` lists all of them."


def _meant(name: str) -> str:
    similar = get_close_matches(name, Settings.model_fields, n=1, cutoff=0.7)
    return f". Did you mean {similar[0]}?" if similar else "."


class SettingValue(NamedTuple):
    """The value of a setting that applies here, and the environment variable or file that sets it; empty for the
    default."""

    value: Any
    origin: str


def values_here() -> dict[str, SettingValue]:
    """All settings that apply in this folder, without those of the workspace."""
    settings, file = Settings.load(), find_file()
    in_file = _in_file(file) if file else {}
    return {
        name: SettingValue(getattr(settings, name), overriding_variable(name) or (str(file) if name in in_file else ""))
        for name in Settings.model_fields
    }


def line(name: str, value: object) -> str:
    """A setting as a line of trueweave.toml."""
    return f"{name} = {_toml(value)}"


def overriding_variable(name: str) -> str | None:
    """The environment variable that sets a setting, if there is one."""
    variable = f"{PREFIX}{name.upper()}"
    return variable if os.environ.get(variable) else None


def _example(field: FieldInfo) -> Any:
    """A valid value: the default, or an example if the default is empty."""
    return field.examples[0] if field.default in (None, {}, ()) and field.examples else field.default


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def sends_traces() -> bool:
    """Whether the standard OpenTelemetry variables configure an endpoint for traces.

    ConfigError if they ask for a protocol that Trueweave does not support.
    """
    named = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    is_off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if is_off or os.environ.get("OTEL_TRACES_EXPORTER") == "none" or not any(map(os.environ.get, named)):
        return False
    for variable in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if (protocol := os.environ.get(variable)) not in (None, "", "http/protobuf"):
            raise ConfigError(f"{variable} is {protocol}, but only http/protobuf is supported. Set it to that.")
    return True


def xdg_data_home() -> Path | None:
    """The data folder that XDG_DATA_HOME names, if it is set. A relative path is ignored."""
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    return named if named.is_absolute() else None


def secret(variable: str) -> str | None:
    """The value of an environment variable that holds a key."""
    return os.environ.get(variable) or None


def _address(server: str, setting: str, given: str | None) -> str | None:
    """The address of a server, read from the environment if a variable is given."""
    if given is None or given.startswith(_POSTGRESQL):
        return given
    found = secret(given)
    if found is None or not found.startswith(_POSTGRESQL):
        state = "is not set" if found is None else "is not a PostgreSQL address"
        raise ConfigError(
            f"{setting} takes the address of server {server} from the environment variable {given}, which "
            f"{state}. Set it to an address like {EXAMPLE_URL}."
        )
    return found


def _in_file(path: Path) -> dict[str, Any]:
    """What a trueweave.toml sets, as it is written there."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}. Fix it (text needs quotation marks, as in "
            'model = "ollama/llama3.1:8b"), or remove it and run `trueweave init`.'
        ) from error
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror}. Run Trueweave as its owner, or name another file."
        ) from error
    if strange := [name for name in found if name not in Settings.model_fields]:
        raise ConfigError(f"{path}: {unknown(strange)}")
    return found


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    found = _in_file(path)
    for folder in _PATHS:
        if isinstance(named := found.get(folder), str):
            found[folder] = str(path.parent / Path(named).expanduser())
    if isinstance(named := found.get("chroma_url"), str) and "://" not in named:
        found["chroma_url"] = str(path.parent / Path(named).expanduser())
    here = Path(os.path.realpath(path.parent))
    return {"project_folder": str(here), "workspace": _own_workspace(here), **found}


def workspace_name(folder: Path) -> str:
    """A good name for the workspace of a folder."""
    plain = "-".join(re.findall(r"[a-z0-9]+", anyascii(folder.name).lower()))
    return plain[:40].rstrip("-") or "project"


def _own_workspace(folder: Path) -> str:
    """The workspace name of a folder whose settings have none; unique to the folder."""
    return f"{workspace_name(folder)}-{hashlib.blake2b(os.fsencode(folder), digest_size=4).hexdigest()}"


def _where(name: str, given: bool) -> str:
    if given:
        return ""
    return f" (in {overriding_variable(name) or find_file()})"
