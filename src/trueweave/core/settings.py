"""Settings: the only reader of the environment, and the only reader and writer of trueweave.toml."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

from anyascii import anyascii
from pydantic import Field, PrivateAttr, StringConstraints, TypeAdapter, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from trueweave.core import machine
from trueweave.core.errors import ConfigError
from trueweave.core.model_calls import ModelRole
from trueweave.core.record import Resolution

FILE = "trueweave.toml"
PREFIX = "TRUEWEAVE_"
KEY_VARIABLE = r"^[A-Z][A-Z0-9_]*(KEY|TOKEN)$"  # whoever may set a workspace's settings reads no other variable by them
EXAMPLE_URL = "postgresql://user:password@host:5432/database"

_SERVER = r"^[a-z][a-z0-9_-]{0,62}$"
_VARIABLE = r"^[A-Z][A-Z0-9_]*$"
_BESIDE_CONTEXT = 8000  # tokens for a question, its instructions and the prompt itself
_POSTGRESQL = ("postgresql://", "postgres://")

# What concerns the process, its machine or its files, and is the same for all workspaces that it works in. `resolution`
# is for workspaces that are made.
OF_THE_PROCESS = frozenset(
    {
        "database_url",
        "direct_database_url",
        "owner_database_url",
        "standby_urls",
        "standby_lag_seconds",
        "standby_wait",
        "standby_connections",
        "server_urls",
        "direct_server_urls",
        "owner_server_urls",
        "server_standby_urls",
        "workspace",
        "project_folder",
        "follow_links",
        "no_ignore",
        "resolution",
        "lease",
        "connections",
        "worker_jobs",
        "index_memory_bytes",
        "statement_timeout",
        "lock_timeout",
        "idle_timeout",
        "slow_statement_seconds",
        "max_upload_bytes",
        "max_header_bytes",
        "first_request_seconds",
        "connections_per_address",
        "max_unpacked_bytes",
        "max_reading_seconds",
        "uploads_at_once",
        "key_requests_at_once",
        "key_requests_per_minute",
        "key_questions_at_once",
        "key_tokens_per_day",
        "key_spend_per_day",
        "oidc_issuer",
        "oidc_audience",
        "oidc_algorithms",
        "oidc_workspaces_claim",
        "oidc_scope_claim",
        "metrics_host",
        "metrics_port",
        "log_format",
        "drain_seconds",
        "shutdown_seconds",
        "data_directory",
        "bench_data",
        "model_folder",
        "prompt_folder",
        "neo4j_url",
        "chroma_url",
        "chroma_key_variable",
    }
)


class ServerAddress(NamedTuple):
    """Where a PostgreSQL server is: for work, past a pooler if there is one, and for the owner of the schema."""

    url: str
    direct_url: str | None
    owner_url: str


class Settings(BaseSettings):
    """What a user may set: given by the caller, else of the workspace, else in the environment, else in trueweave.toml,
    else the default. `over` has those of the workspace, which are kept in the database."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True)

    database_url: str | None = Field(
        default=None,
        repr=False,  # it may hold a password
        description="The PostgreSQL database to work in. Without it, Trueweave runs the bundled PostgreSQL.",
        examples=[EXAMPLE_URL],
    )
    direct_database_url: str | None = Field(
        default=None,
        repr=False,
        description="The address of PostgreSQL itself, where database_url is that of a pooler such as PgBouncer.",
        examples=[EXAMPLE_URL],
    )
    owner_database_url: str | None = Field(
        default=None,
        repr=False,
        description="The address of PostgreSQL itself with the user who owns the schema, where the one of database_url "
        "may not change it. Only `init`, `migrate`, `server` and most of `workspace` use it.",
        examples=[EXAMPLE_URL],
    )
    standby_urls: tuple[str, ...] = Field(
        default=(),
        repr=False,
        description="Addresses of standbys, copies of the database by streaming replication, that questions are read "
        "from. Everything else is the primary's, at database_url.",
        examples=[["postgresql://user:password@standby:5432/database"]],
    )
    standby_lag_seconds: float = Field(
        default=2.0, gt=0, description="Seconds that a standby may be behind the primary. One that is more is left out."
    )
    standby_wait: float = Field(
        default=0.25,
        ge=0,
        description="Seconds that a question waits until a standby has all that was committed before it was asked. "
        "After that the primary answers it.",
    )
    standby_connections: int = Field(
        default=10, ge=1, description="Connections to each standby that a process may have for questions."
    )
    workspace: str = Field(
        default="default",
        min_length=1,
        description="The workspace to work in: one index among others in the same database. Without it, one for this "
        "file's folder alone.",
    )
    project_folder: Path | None = Field(
        default=None,
        description="The folder that files are named from: a document's uri is its path from there. Without it, this "
        "file's folder.",
        examples=["."],
    )
    follow_links: bool = Field(
        default=False, description="Whether links in folders that are added are followed, also out of the folder."
    )
    no_ignore: bool = Field(
        default=False,
        description="Whether files are read although .gitignore or .trueweaveignore names them, or they hold keys or "
        "secrets.",
    )
    model: str | None = Field(
        default=None,
        description="The language model, as provider/model. Without it, nothing is sent to any.",
        examples=["ollama/llama3.1:8b"],
    )
    model_url: str | None = Field(
        default=None,
        description="The address of the model's server, where it is not the provider's usual one.",
        examples=["http://127.0.0.1:8000/v1"],
    )
    model_key_variable: str | None = Field(
        default=None,
        pattern=KEY_VARIABLE,
        description="The environment variable that holds the model's key, if not the provider's usual one.",
        examples=["TENANT_API_KEY"],
    )
    context_length: int | None = Field(
        default=None,
        ge=1024,
        description="How many tokens prompt and reply may have together; Ollama is told so. Without it, 16,384 there.",
        examples=[8192],
    )
    embedding_model: str | None = Field(
        default=None,
        description="The embedding model: local/ and a name of `trueweave models list`, which is downloaded when it is "
        "first used; provider/model; or onnx/ and a folder with model.onnx and tokenizer.json.",
        examples=["local/bge-small-en-v1.5"],
    )
    model_folder: Path | None = Field(
        default=None,
        description="The folder that models of local/ are taken from, each in a folder of its name, from this file's "
        "folder. Nothing is downloaded then. Without it, a cache for each user.",
        examples=["models"],
    )
    embedding_url: str | None = Field(
        default=None,
        description="The address of the embedding model's server, where it is not the provider's usual one.",
        examples=["http://127.0.0.1:8000/v1"],
    )
    embedding_key_variable: str | None = Field(
        default=None,
        pattern=KEY_VARIABLE,
        description="The environment variable that holds the embedding model's key, if not the provider's usual one.",
        examples=["TENANT_API_KEY"],
    )
    embedding_query_prefix: str | None = Field(
        default=None,
        description="What the embedding model is to find before a text that is looked for. Without it, what a model "
        "known by name was trained with, else nothing.",
        examples=["search_query: "],
    )
    embedding_document_prefix: str | None = Field(
        default=None,
        description="What the embedding model is to find before a text that is stored, likewise. Another prefix needs "
        "`trueweave reembed`, as another model does.",
        examples=["search_document: "],
    )
    reranker: str | None = Field(
        default=None,
        description="What orders passages anew: provider/model, onnx/ and a cross-encoder's folder, or llm, the model.",
        examples=["onnx/models/ms-marco-MiniLM-L6-v2"],
    )
    reranker_url: str | None = Field(
        default=None,
        description="The address of the reranker's server, where it is not the provider's usual one.",
        examples=["http://127.0.0.1:8000/v1"],
    )
    reranker_key_variable: str | None = Field(
        default=None,
        pattern=KEY_VARIABLE,
        description="The environment variable that holds the reranker's key, if not the provider's usual one.",
        examples=["TENANT_API_KEY"],
    )
    verifiers: tuple[str, ...] = Field(
        default=("rules",),
        description="What checks the sentences of answers, in this order: rules; onnx/ and the folder of a model for "
        "natural language inference; llm, the model.",
        examples=[["rules", "llm"]],
    )
    repair: bool = Field(
        default=False, description="Whether sentences that the check does not confirm are given to the model once more."
    )
    method: str | None = Field(
        default=None,
        description="The method that answers questions: `trueweave methods` lists them. Without it, auto.",
        examples=["hybrid"],
    )
    extractor: str = Field(
        default="auto",
        description="How entities and relations are found: llm by the model, nlp by spaCy, capitals by capitalised "
        "phrases alone, or the name of one that a package brings along. auto: llm where there is a model, else "
        "capitals.",
    )
    chunker: str = Field(
        default="structure",
        description="How documents are cut into chunks: structure at headings, paragraphs and sentences, semantic "
        "where the vectors of neighbouring sentences differ, or the name of one that a package brings along.",
    )
    break_percentile: float = Field(
        default=10.0,
        gt=0,
        lt=100,
        description="Of 100 borders between sentences, how many may end a chunk of the chunker semantic: those with "
        "the least alike neighbours.",
    )
    relation_patterns: tuple[tuple[str, str, str], ...] = Field(
        default=(),
        description="Which relations may be between which entities, by their types: source, relation, target. A "
        "relation type without a pattern may be between any.",
        examples=[[["person", "works for", "organization"]]],
    )
    strict_schema: bool = Field(
        default=False,
        description="Whether what a model finds is left out where it has none of the entity_types and relation_types "
        "or fits none of the relation_patterns. Otherwise it is kept, and noted.",
    )
    pipeline: str = Field(default="en_core_web_sm", description="The spaCy pipeline of the nlp extractor.")
    prompt_folder: Path | None = Field(
        default=None,
        description="The folder of prompts of your own, from this file's folder: NAME.md there takes the place of the "
        "built-in prompt of that name. `trueweave prompts list` shows them.",
        examples=["prompts"],
    )
    resolution: Resolution = Field(
        default="exact",
        description="Which names are one entity in a workspace that is made: exact but for case, accents, punctuation, "
        "spacing and legal forms; fuzzy, alike ones; off, none. `trueweave resolution` changes one that is there.",
    )
    max_gleaning: int = Field(
        default=1, ge=1, le=5, description="How many times the model looks for entities and relations in each chunk."
    )
    max_paths_per_chunk: int = Field(
        default=20, ge=1, le=200, description="How many relations are kept of each chunk, the strongest first."
    )
    min_chunk_size: int = Field(default=400, ge=1, description="Tokens below which a chunk is joined with the next.")
    max_chunk_size: int = Field(default=800, ge=16, description="Tokens that a chunk has at most.")
    chunk_overlap: int = Field(
        default=0, ge=0, description="Tokens that a chunk repeats of the one before. What they say is counted twice."
    )
    max_community_size: int = Field(
        default=10, ge=2, description="Entities in a community that is not divided further, where it can be."
    )
    report_tokens: int = Field(
        default=8000, ge=1000, description="Tokens of facts that a report about a community is written from at most."
    )
    max_reply_tokens: int = Field(default=4096, ge=256, description="Tokens that a model's reply may have at most.")
    max_context_tokens: int = Field(
        default=6000, ge=256, description="Tokens of evidence and conversation that a model is shown for an answer."
    )
    max_question_tokens: int | None = Field(
        default=None,
        ge=256,
        description="Tokens that a model may be given at once for a question: instructions, conversation, evidence and "
        "the question itself. More is an error before any call. Without it, max_context_tokens + 8,000.",
        examples=[14000],
    )
    max_answer_tokens: int = Field(
        default=2000, ge=16, description="Tokens that an answer may have at most, the model's thoughts included."
    )
    deadline: float = Field(default=300.0, gt=0, description="Seconds after which a model call is given up.")
    calls_at_once: int = Field(
        default=16, ge=1, le=1000, description="Calls to one model at the same time, over all workers."
    )
    requests_per_minute: int | None = Field(
        default=None, ge=1, description="Calls to one model a minute, over all workers.", examples=[500]
    )
    tokens_per_minute: int | None = Field(
        default=None, ge=1000, description="Tokens to and from one model a minute, over all workers.", examples=[200000]
    )
    model_tries: int = Field(
        default=10, ge=1, description="Times that a model which does not answer is asked before the run stops."
    )
    jobs_at_once: int | None = Field(
        default=None,
        ge=1,
        description="Jobs of one workspace that are under way at the same time, over all workers. A worker for all "
        "workspaces gives no more than half of its own places to one.",
        examples=[8],
    )
    tries: int = Field(
        default=3, ge=1, description="Failures after which a document is marked as failed, with its error."
    )
    try_again_after: float = Field(
        default=5.0, gt=0, description="Seconds before a document that failed is tried again."
    )
    graph: Literal["postgresql", "neo4j"] = Field(
        default="postgresql", description="The store that relations and mentions are followed in."
    )
    vectors: Literal["postgresql", "chroma"] = Field(
        default="postgresql", description="The store that vectors are searched in."
    )
    neo4j_url: str | None = Field(
        default=None,
        repr=False,  # it may hold a password
        description="The address of Neo4j, where it has a copy of the graph.",
        examples=["neo4j://user:password@host:7687/neo4j"],
    )
    chroma_url: str | None = Field(
        default=None,
        description="The address of Chroma, where it has a copy of the vectors; or a folder, for Chroma inside the "
        "process, from this file's folder.",
        examples=["http://127.0.0.1:8000"],
    )
    chroma_key_variable: str | None = Field(
        default=None,
        pattern=KEY_VARIABLE,
        description="The environment variable that holds Chroma's token, if it wants one.",
        examples=["CHROMA_TOKEN"],
    )
    projection_wait: float = Field(
        default=0.0,
        ge=0,
        description="Seconds that a question waits until Neo4j or Chroma has all that was written before it was asked; "
        "longer is an error. 0 does not wait.",
    )
    currency: str = Field(
        default="USD", pattern="^[A-Z]{3}$", description="The currency of prices and budgets, by its three letters."
    )
    reply_days: int = Field(
        default=30,
        ge=1,
        description="Days that a model's replies to questions are kept, vectors of texts, and replies about texts that "
        "have changed since. What was extracted from a text is kept as long as the text.",
    )
    log_days: int = Field(
        default=30,
        ge=1,
        description="Days that the list of changes is kept, jobs of documents, and the server's audit log.",
    )
    spend_days: int = Field(
        default=90, ge=1, description="Days that what was spent is kept call by call; after that, in sums by day."
    )
    lease: float = Field(
        default=15.0,
        ge=1,
        description="Seconds without a sign of life after which others take over what a process was at.",
    )
    connections: int | None = Field(
        default=None,
        ge=1,
        description="Connections that a process may have to each PostgreSQL server. Without it, 4 for each core and 1 "
        "for 4 jobs of a worker, at least 10 and at most 40.",
        examples=[20],
    )
    worker_jobs: int | None = Field(
        default=None,
        ge=1,
        description="Jobs that one worker has under way at the same time. Without it, 12 for each core, at most 96.",
        examples=[24],
    )
    index_memory_bytes: int | None = Field(
        default=None,
        ge=16 * 2**20,
        description="Bytes of memory that PostgreSQL may use to build one index of vectors; up to 4 are built at the "
        "same time. Without it, a sixteenth of the memory for the bundled PostgreSQL, from 64 MB to 1 GB, and 1 GB for "
        "any other.",
        examples=[512 * 2**20],
    )
    statement_timeout: float = Field(
        default=600.0, ge=0, description="Seconds after which PostgreSQL breaks off a statement. 0 is never."
    )
    lock_timeout: float = Field(
        default=300.0, ge=0, description="Seconds after which PostgreSQL gives up waiting for a lock. 0 is never."
    )
    idle_timeout: float = Field(
        default=60.0, ge=0, description="Seconds after which PostgreSQL ends a transaction in which nothing happens."
    )
    slow_statement_seconds: float = Field(
        default=1.0, ge=0, description="Statements that take so many seconds are logged, at level INFO. 0 is none."
    )
    max_upload_bytes: int = Field(
        default=100 * 2**20, ge=1, description="Bytes that one upload to the server may have, all its files together."
    )
    max_unpacked_bytes: int | None = Field(
        default=None,
        ge=1,
        description="Bytes that the packed files of one upload may unpack to. Without it, ten times max_upload_bytes.",
        examples=[2**30],
    )
    max_reading_seconds: float = Field(
        default=60.0, gt=0, description="Seconds that a server may take to read the files of one upload."
    )
    uploads_at_once: int = Field(
        default=4,
        ge=2,
        description="Uploads that a server reads at the same time. One key may have half of them under way; its others "
        "wait.",
    )
    max_header_bytes: int = Field(
        default=64 * 2**10, ge=1024, description="Bytes that the headers of a request to the server may have."
    )
    first_request_seconds: float = Field(
        default=10.0,
        gt=0,
        description="Seconds after which the server closes a connection on which the headers of a request did not "
        "arrive.",
    )
    connections_per_address: int = Field(
        default=128,
        ge=0,
        description="Connections that one address may have to each server. Behind a proxy, which is one address, raise "
        "it to what the proxy opens. 0 is any number.",
    )
    key_requests_at_once: int = Field(
        default=256, ge=1, description="Requests that one key may have under way at each server."
    )
    key_requests_per_minute: int | None = Field(
        default=None, ge=1, description="Requests that one key may make a minute at each server.", examples=[600]
    )
    key_questions_at_once: int | None = Field(
        default=None, ge=1, description="Questions that one key may have under way at each server.", examples=[8]
    )
    key_tokens_per_day: int | None = Field(
        default=None,
        ge=0,
        description="Maximum tokens per key, or per holder of tokens, and day (UTC), over all servers. The limit of a "
        "key can only be lower.",
        examples=[1_000_000],
    )
    key_spend_per_day: Decimal | None = Field(
        default=None, ge=0, description="Maximum spend per key and day (UTC), like key_tokens_per_day.", examples=[5]
    )
    workspace_questions_at_once: int | None = Field(
        default=None,
        ge=1,
        description="Questions that may be under way in one workspace at each server.",
        examples=[32],
    )
    max_storage_bytes: int | None = Field(
        default=None,
        ge=0,
        description="Bytes of text that a workspace may hold. Adding more is refused.",
        examples=[10 * 2**30],
    )
    oidc_issuer: str | None = Field(
        default=None,
        description="The identity provider (OpenID Connect) whose tokens the server takes besides keys, by its issuer.",
        examples=["https://id.example.com/realms/acme"],
    )
    oidc_audience: str | None = Field(
        default=None,
        description="What that provider calls this server: the audience that tokens must be for.",
        examples=["https://trueweave.example.com"],
    )
    oidc_algorithms: tuple[
        Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"], ...
    ] = Field(default=("RS256", "PS256", "ES256", "EdDSA"), min_length=1, description="How tokens may be signed.")
    oidc_workspaces_claim: str = Field(
        default="trueweave_workspaces",
        min_length=1,
        description="The claim with the names of the workspaces that a token is for: a list, or one name. * is all. "
        "Dots lead into claims.",
        examples=["resource_access.trueweave.workspaces"],
    )
    oidc_scope_claim: str = Field(
        default="scope",
        min_length=1,
        description="The claim with what a token allows, trueweave:read, trueweave:write or trueweave:admin: a list, "
        "or words with spaces between. Dots lead into claims.",
        examples=["realm_access.roles"],
    )
    metrics_host: str = Field(
        default="127.0.0.1",
        description="The address on which metrics_port is opened. It asks for no key: let nobody else reach it.",
    )
    metrics_port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description="The port on which a server or a worker tells its metrics, for Prometheus. Without it, none.",
        examples=[9464],
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="How a server or a worker logs to stderr: lines of text, or of JSON alone."
    )
    drain_seconds: float = Field(
        default=0.0,
        ge=0,
        description="Seconds for which a server that is told to stop says that it is not ready, and still answers, so "
        "that balancers send nobody any more.",
    )
    shutdown_seconds: int = Field(
        default=30,
        ge=1,
        description="Seconds within which a server stops after that. Requests and jobs under way have all of them but "
        "the last 5 (at most a third) to end, and are cancelled then.",
    )
    data_directory: Path | None = Field(
        default=None,
        description="The folder of the bundled PostgreSQL, from this file's folder. Without it, trueweave in "
        "XDG_DATA_HOME or the user's data folder; for root, /var/lib/trueweave.",
        examples=["trueweave-data"],
    )
    bench_data: Path | None = Field(
        default=None,
        description="The folder of sets of questions that `trueweave bench` knows by name, from this file's folder.",
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
        description="The types of entities that the model looks for, each with what it is.",
    )
    relation_types: dict[str, str] = Field(
        default={},
        description="The types of relations that the model looks for, each with what it is. Without any, relations "
        "have descriptions and themes alone. The type of a relation is its first theme.",
        examples=[{"works for": "somebody is employed there"}],
    )
    models: dict[ModelRole, str] = Field(
        default={},
        description="Language models for one role each, where it is not model: extract finds entities and relations, "
        "keywords is asked while methods search, answer answers, report writes reports about communities, judge checks "
        "answers.",
        examples=[{"answer": "anthropic/claude-sonnet-4-5", "keywords": "ollama/llama3.1:8b"}],
    )
    model_urls: dict[str, str] = Field(
        default={},
        description="Addresses of language models by their names, or by the names of providers, where neither "
        "model_url nor the provider's usual one is right. model_url is for the provider of model.",
        examples=[{"vllm": "http://127.0.0.1:8000/v1"}],
    )
    model_key_variables: dict[str, Annotated[str, StringConstraints(pattern=KEY_VARIABLE)]] = Field(
        default={},
        description="Likewise, the environment variables that hold their keys.",
        examples=[{"vllm": "VLLM_API_KEY"}],
    )
    prices: dict[str, tuple[Decimal, Decimal]] = Field(
        default={},
        description="What a million tokens cost: to the model, and from it. Models on your own machine cost nothing.",
        examples=[{"openai/some-model": [0.5, 2.0]}],
    )

    server_urls: dict[str, str] = Field(
        default={},
        repr=False,
        description="More PostgreSQL servers that workspaces may be on, by names of your own: the address of each, or "
        "the environment variable that holds it. The database of database_url is their home.",
        examples=[{"east": "TRUEWEAVE_EAST_URL"}],
    )
    direct_server_urls: dict[str, str] = Field(
        default={},
        repr=False,
        description="Likewise, the addresses of PostgreSQL itself, where those of server_urls are of poolers.",
        examples=[{"east": "TRUEWEAVE_EAST_DIRECT_URL"}],
    )
    owner_server_urls: dict[str, str] = Field(
        default={},
        repr=False,
        description="Likewise, with the users who own the schemas. Only `migrate` and `workspace move` use them.",
        examples=[{"east": "TRUEWEAVE_EAST_OWNER_URL"}],
    )
    server_standby_urls: dict[str, tuple[str, ...]] = Field(
        default={},
        repr=False,
        description="Addresses of standbys of servers of server_urls, as standby_urls are for the home.",
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
                    f"a server cannot be called {name!r}: take small letters, digits, - and _, and not home"
                )
            if not url.startswith(_POSTGRESQL) and not re.match(_VARIABLE, url):
                raise ValueError(f"{name} must look like {EXAMPLE_URL}, or be the name of an environment variable")
        return urls

    def server(self, name: str) -> ServerAddress:
        """Where a server of server_urls is. ConfigError for one that is not there, or whose variable is not set."""
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
        """How many jobs one worker has under way at the same time."""
        return self.worker_jobs or min(12 * machine.cores(), 96)

    @property
    def pool_size(self) -> int:
        """How many connections a process may have to each PostgreSQL server."""
        return self.connections or min(max(10, 4 * machine.cores(), self.jobs_of_a_worker // 4), 40)

    def index_memory(self, *, bundled: bool) -> int:
        """Bytes that PostgreSQL may use to build one index: the bundled one is on this machine."""
        by_default = min(max(machine.memory() // 16, 64 * 2**20), 2**30) if bundled else 2**30
        return self.index_memory_bytes or by_default

    @property
    def owner_address(self) -> str | None:
        """The address of PostgreSQL itself with the user who owns the schema; None is the bundled one."""
        return self.owner_database_url or self.direct_database_url or self.database_url

    @property
    def question_tokens(self) -> int:
        """The tokens that a model may be given at once for a question."""
        return self.max_question_tokens or self.max_context_tokens + _BESIDE_CONTEXT

    def model_for(self, role: ModelRole) -> str | None:
        """The name of the language model for a role: its own, or else the one for all."""
        return self.models.get(role, self.model)

    @property
    def chat_models(self) -> dict[str, tuple[ModelRole, ...]]:
        """The names of all language models, each with what it is for."""
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
        """The settings in force here, where one that is given as None is left to the environment and the file."""
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
        """Whether all values are the same, wherever they come from."""
        return isinstance(other, Settings) and self.__dict__ == other.__dict__

    def given(self, changes: Mapping[str, Any]) -> Self:
        """These with what the caller sets himself: no setting of a workspace outweighs that."""
        update = _for_all_roles(changes)
        made = self.model_copy(update=update)
        made._given = self._given | update.keys()  # noqa: SLF001 (its own)
        return made

    def over(self, stored: Mapping[str, Any]) -> Self:
        """These with the settings that a workspace has of its own, where the caller did not give one himself."""
        changes = {name: value for name, value in stored.items() if name not in self._given}
        if not changes:
            return self
        found = workspace_settings(changes)
        return self.model_copy(update=found if "models" in self._given else _for_all_roles(found))

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


def _for_all_roles(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Who names a model and none for a role means it for all roles, whatever a setting that it outweighs says."""
    return {"models": {}, **changes} if changes.get("model") else dict(changes)


def workspace_settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The values of settings that a workspace has of its own; a ConfigError for one that it cannot have."""
    found: dict[str, Any] = {}
    for name, value in stored.items():
        field = Settings.model_fields.get(name)
        if field is None or name in OF_THE_PROCESS:
            known = ", ".join(one for one in Settings.model_fields if one not in OF_THE_PROCESS)
            raise ConfigError(f"{name} is not a setting of a workspace. These are: {known}.")
        try:
            found[name] = _adapter(name).validate_python(value)
        except ValidationError as error:
            raise ConfigError(f"{name} of the workspace: {error.errors()[0]['msg']}") from error
    return found


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    """What checks the value of one setting."""
    field = Settings.model_fields[name]
    checked: Any = Annotated[field.annotation, field]
    return TypeAdapter(checked)


def find_file() -> Path | None:
    """The trueweave.toml in force: the one that TRUEWEAVE_CONFIG names, or the nearest in this folder and those
    above."""
    if named := os.environ.get(f"{PREFIX}CONFIG"):
        if not Path(named).is_file():
            raise ConfigError(
                f"{PREFIX}CONFIG names {named}, which is not there. Make that file, or unset the variable."
            )
        return Path(named).absolute()
    here = Path.cwd()
    return next((folder / FILE for folder in (here, *here.parents) if (folder / FILE).is_file()), None)


def write_file(
    path: Path, *, database_url: str | None = None, workspace: str | None = None, embedding_model: str | None = None
) -> None:
    """Write a new trueweave.toml: every setting with its help, commented out where no value is given.

    Only the user may read it, as a database URL may hold a password. A file that is already there is an error.
    """
    given = {"database_url": database_url, "workspace": workspace, "embedding_model": embedding_model}
    lines = [f"# Trueweave's settings for this folder and all below it. {PREFIX}… in the environment outweighs them."]
    tables: list[str] = []  # these come last, as all that follows a table's heading belongs to it
    for name, field in Settings.model_fields.items():
        value = given.get(name)
        mark, shown = ("", value) if value else ("# ", _example(field))
        if isinstance(shown, dict):
            tables += ["", f"# {field.description}", f"# [{name}]"]
            tables += [f"# {_toml(key)} = {_toml(one)}" for key, one in shown.items()]
        else:
            lines += ["", f"# {field.description}", f"{mark}{name} = {_toml(shown)}"]
    lines += tables
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error


def change_file(path: Path, name: str, value: str) -> None:
    """Give a setting another value in a trueweave.toml, where it is set, or else where it is commented out."""
    lines = path.read_text(encoding="utf-8").splitlines()
    end = next((n for n, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    found = [n for mark in ("", r"#\s*") for n in range(end) if re.match(rf"\s*{mark}{name}\s*=", lines[n])]
    changed = line(name, value)
    if found:
        lines[found[0]] = changed
    else:
        lines.insert(end, changed)
    partial = path.with_name(f"{path.name}.part")
    try:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
        partial.chmod(path.stat().st_mode)
        partial.replace(path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}. Put this line into it: {changed}") from error


def line(name: str, value: str) -> str:
    """A setting as trueweave.toml has it."""
    return f"{name} = {_toml(value)}"


def outweighing(name: str) -> str | None:
    """The variable in the environment that a setting is taken from, if it is set there."""
    variable = f"{PREFIX}{name.upper()}"
    return variable if os.environ.get(variable) else None


def _example(field: FieldInfo) -> Any:
    """A value that may be set: the default, or an example where that is to have none."""
    return field.examples[0] if field.default in (None, {}, ()) and field.examples else field.default


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def sends_traces() -> bool:
    """Whether the environment says where traces are sent, by the standard variables of OpenTelemetry.

    ConfigError where it wants another protocol than the one that Trueweave has.
    """
    named = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    is_off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if is_off or os.environ.get("OTEL_TRACES_EXPORTER") == "none" or not any(map(os.environ.get, named)):
        return False
    for variable in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if (protocol := os.environ.get(variable)) not in (None, "", "http/protobuf"):
            raise ConfigError(f"{variable} is {protocol}, and traces are sent by http/protobuf. Set it to that.")
    return True


def xdg_data_home() -> Path | None:
    """The folder for data of programs that the environment names, if it does. A path from here is not one."""
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    return named if named.is_absolute() else None


def secret(variable: str) -> str | None:
    """The value of a variable in the environment that holds a key."""
    return os.environ.get(variable) or None


def _address(server: str, setting: str, given: str | None) -> str | None:
    """The address of a server, from the environment where a variable is given."""
    if given is None or given.startswith(_POSTGRESQL):
        return given
    found = secret(given)
    if found is None or not found.startswith(_POSTGRESQL):
        state = "is not set" if found is None else "holds no address of PostgreSQL"
        raise ConfigError(
            f"the address of server {server} is to be in the environment variable {given}, as {setting} says, and that "
            f"{state}. Set it to one like {EXAMPLE_URL}."
        )
    return found


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}. Mend it, or remove it and run `trueweave init`."
        ) from error
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror}. Run Trueweave as its owner, or name another file."
        ) from error
    known = Settings.model_fields
    if unknown := [name for name in found if name not in known]:
        raise ConfigError(
            f"{path} sets {', '.join(unknown)}, which Trueweave does not know. It knows {', '.join(known)}."
        )
    for folder in ("data_directory", "bench_data", "model_folder", "project_folder", "prompt_folder"):
        if isinstance(named := found.get(folder), str):
            found[folder] = str(path.parent / Path(named).expanduser())
    if isinstance(named := found.get("chroma_url"), str) and "://" not in named:
        found["chroma_url"] = str(path.parent / Path(named).expanduser())
    here = Path(os.path.realpath(path.parent))
    return {"project_folder": str(here), "workspace": _own_workspace(here), **found}


def workspace_name(folder: Path) -> str:
    """What a workspace for a folder is best called."""
    plain = "-".join(re.findall(r"[a-z0-9]+", anyascii(folder.name).lower()))
    return plain[:40].rstrip("-") or "project"


def _own_workspace(folder: Path) -> str:
    """The workspace of a folder whose settings name none: no other folder has one of the same name."""
    return f"{workspace_name(folder)}-{hashlib.blake2b(os.fsencode(folder), digest_size=4).hexdigest()}"


def _where(name: str, given: bool) -> str:
    if given:
        return ""
    return f" (in {outweighing(name) or find_file()})"
