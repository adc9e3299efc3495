"""Turns every error into application/problem+json (RFC 9457), with a code, a sentence and what to do next.

Internal errors, such as those of the database or a model's server, are only logged: their messages name addresses and
files that callers must not see.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request

from trueweave.core import errors
from trueweave.core.errors import TrueweaveError
from trueweave.server.logs import current_request

MEDIA_TYPE = "application/problem+json"

_log = logging.getLogger(__name__)
_MOST_ERRORS = 20
_IN_LOG = "The server's administrator finds the reason in its log, under the request id."
_LATER = "Try again later."


class FieldProblem(BaseModel):
    """What is wrong with one part of a request."""

    where: str
    problem: str


class ProblemBody(BaseModel):
    """An error: what went wrong, and what to do next."""

    type: str = Field(description="A name of the kind of problem that does not change.")
    title: str
    status: int
    detail: str
    code: str = Field(description="The kind of problem, for programs.")
    next_step: str = ""
    request_id: str = ""
    near: list[str] = Field(default=[], description="Names like the one that is not there.")
    errors: list[FieldProblem] = []


class Refusal(HTTPException):
    """Raised to refuse a request, with a code and a next step."""

    def __init__(
        self, status: int, code: str, detail: str, next_step: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(status, detail, headers)
        self.code = code
        self.next_step = next_step


@dataclass(frozen=True, slots=True)
class _Kind:
    """The response for a class of errors. A `detail` is shown in place of the message. With `to_operator`, an
    administrator of all workspaces still sees the message."""

    status: int
    code: str
    next_step: str
    detail: str = ""
    to_operator: bool = False

    def is_shown(self, caller: Any) -> bool:
        """Whether a caller sees the message."""
        is_operator = caller is not None and caller.scope == "admin" and caller.workspaces is None
        return not self.detail or (self.to_operator and is_operator)


KINDS: dict[type[TrueweaveError], _Kind] = {
    errors.TrueweaveError: _Kind(500, "internal", _IN_LOG, "The request failed."),
    errors.ConfigError: _Kind(
        409, "not_configured", _IN_LOG, "The server is not set up for this: a setting or a model is missing.", True
    ),
    errors.InvalidArgument: _Kind(422, "invalid_argument", "Change the request and send it again."),
    errors.PriceUnknown: _Kind(409, "price_unknown", "Ask the server's administrator to set the price of the model."),
    errors.NoVectors: _Kind(409, "no_vectors", "Use the method keyword, which needs none."),
    errors.NoGraphVectors: _Kind(409, "no_graph_vectors", "Use another method: GET /v1/methods lists them."),
    errors.NoReports: _Kind(409, "no_reports", "Use another method until reports are written."),
    errors.UnknownMethod: _Kind(422, "unknown_method", "GET /v1/methods lists methods and their parameters."),
    errors.QuestionTooLong: _Kind(413, "question_too_long", "Shorten the question and its instructions."),
    errors.InvalidDocument: _Kind(422, "invalid_document", "Change the document and send it again."),
    errors.UnreadableFile: _Kind(422, "unreadable_file", "Save the file again, or as text, and send it again."),
    errors.NotText: _Kind(422, "not_text", "Save the file as UTF-8 and send it again."),
    errors.PluginFailed: _Kind(500, "plugin_failed", _IN_LOG, "An extractor or chunker of this server failed."),
    errors.ModelError: _Kind(502, "model_failed", _IN_LOG, "The model could not do what was asked."),
    errors.ModelUnavailable: _Kind(503, "model_unavailable", _LATER, "The model did not answer."),
    errors.ModelFilesMissing: _Kind(503, "model_files_missing", _IN_LOG, "The files of a model are missing here."),
    errors.ModelRefused: _Kind(502, "model_refused", _IN_LOG, "The model's server refuses the calls of this one."),
    errors.BadReply: _Kind(
        502, "model_reply_unusable", "Ask again, or in other words.", "The model's reply is unusable."
    ),
    errors.BudgetReached: _Kind(402, "budget_reached", "Raise the budget of the workspace."),
    errors.KeyLimitReached: _Kind(429, "daily_limit_reached", "Try again tomorrow (UTC), or have the limit raised."),
    errors.StorageFull: _Kind(413, "storage_full", "Remove documents, or have the limit of the workspace raised."),
    errors.DatabaseError: _Kind(500, "database_error", _IN_LOG, "The database could not do what was asked."),
    errors.DatabaseUnavailable: _Kind(503, "database_unavailable", _LATER, "The database did not answer."),
    errors.WorkspaceMoving: _Kind(
        503, "workspace_moving", _LATER, "The workspace is being moved, and takes no writes for now."
    ),
    errors.WorkspaceLoading: _Kind(409, "workspace_loading", "Try again when the bulk load is done."),
    errors.EmbeddedServerError: _Kind(503, "database_unavailable", _LATER, "The database did not answer."),
    errors.EmbeddedServerMissing: _Kind(503, "database_unavailable", _IN_LOG, "There is no database."),
    errors.DiskFull: _Kind(503, "disk_full", _IN_LOG, "The disk of the database is full."),
    errors.SchemaMismatch: _Kind(503, "schema_mismatch", _IN_LOG, "The database is of another version."),
    errors.SchemaOutdated: _Kind(503, "schema_mismatch", _IN_LOG, "The database is of an older version."),
    errors.SchemaNewer: _Kind(503, "schema_mismatch", _IN_LOG, "The database is of a newer version."),
    errors.NotIsolated: _Kind(500, "not_isolated", _IN_LOG, "The database does not keep workspaces apart."),
    errors.NotForRestricted: _Kind(
        403, "not_for_restricted", '`trueweave keys create NAME --groups "*"` creates a key that reads all.'
    ),
    errors.UnknownWorkspace: _Kind(
        404,
        "unknown_workspace",
        "GET /v1/workspaces lists those that this key may use.",
        "There is no such workspace, or this key may not use it.",
    ),
    errors.WorkspaceReplaced: _Kind(
        503, "workspace_replaced", _LATER, "A bulk load has replaced the index of the workspace just now."
    ),
    errors.UnknownCommunity: _Kind(404, "unknown_community", "List the communities of the workspace."),
    errors.UnknownDocument: _Kind(404, "unknown_document", "List the documents of the workspace."),
    errors.UnknownJob: _Kind(404, "unknown_job", "List the jobs of the workspace."),
    errors.UnknownEntity: _Kind(404, "unknown_entity", "Search the entities of the workspace."),
    errors.AmbiguousName: _Kind(409, "ambiguous_name", "Say which, as NAME::TYPE or by its id."),
    errors.UnknownRelation: _Kind(404, "unknown_relation", "List the relations of the workspace."),
    errors.UnknownRun: _Kind(404, "unknown_run", "List the benchmark runs of the workspace."),
    errors.UnknownQuestion: _Kind(404, "unknown_question", "List the questions of the workspace."),
    errors.SpaceMismatch: _Kind(409, "space_mismatch", "Ask the server's administrator to embed everything again."),
    errors.ChangesGone: _Kind(410, "changes_gone", _IN_LOG),
    # A server writes no certificates.
    errors.CertificateRefused: _Kind(409, "certificate_refused", _IN_LOG, "Something of the documents is left."),
    errors.SignatureInvalid: _Kind(422, "invalid_signature", "Send the file as it was written."),
    errors.StoreError: _Kind(502, "store_failed", _IN_LOG, "A store of copies could not do what was asked."),
    errors.StoreUnavailable: _Kind(503, "store_unavailable", _LATER, "A store of copies did not answer."),
    errors.ProjectionMissing: _Kind(503, "copy_missing", _IN_LOG, "A store has no complete copy of the workspace."),
    errors.ProjectionBehind: _Kind(503, "copy_behind", _LATER, "A store's copy of the workspace is behind."),
    # Only a server that calls other Trueweave servers could raise these, and this one does not.
    errors.ServerError: _Kind(502, "server_failed", _IN_LOG, "Another server could not do what was asked."),
    errors.ServerUnavailable: _Kind(503, "server_unavailable", _LATER, "Another server did not answer."),
    errors.AccessDenied: _Kind(502, "server_failed", _IN_LOG, "Another server refuses the key of this one."),
    errors.RequestRefused: _Kind(502, "server_failed", _IN_LOG, "Another server refuses what was asked."),
    # A server fetches nothing while a request waits.
    errors.SourceUnavailable: _Kind(502, "source_unavailable", _LATER, "The documents could not be listed."),
    errors.ItemGone: _Kind(502, "item_gone", _LATER, "A document no longer exists at its address."),
    errors.RemovalNotConfirmed: _Kind(409, "removal_not_confirmed", "Check the address, then confirm the removal."),
    errors.SourceBusy: _Kind(409, "source_busy", "Try again when its run has ended."),
    errors.SourceNotAllowed: _Kind(403, "source_not_allowed", "Ask the server's administrator to allow it."),
    errors.UnknownSource: _Kind(404, "unknown_source", "List the sources of the workspace."),
    errors.UnknownWatch: _Kind(404, "unknown_watch", "List the watches of the workspace."),
    errors.WebhookNotAllowed: _Kind(403, "webhook_not_allowed", "Ask the server's administrator to allow it."),
    # Workers send alerts, not requests.
    errors.AlertNotSent: _Kind(502, "alert_not_sent", _LATER, "A webhook did not accept an alert."),
    errors.UnknownAccessRule: _Kind(404, "unknown_access_rule", "List the access rules of the workspace."),
    errors.RuleError: _Kind(422, "invalid_rule", "Change the rule and send it again."),
    errors.Defect: _Kind(500, "internal", _IN_LOG, "The request failed by a bug."),
}

_CODES = {
    400: ("bad_request", "Change the request."),
    401: ("unauthorized", "Send a valid key as `Authorization: Bearer twk_…`."),
    403: ("forbidden", "Use a key with a wider scope."),
    404: ("not_found", "GET /v1/openapi.json lists all paths."),
    405: ("method_not_allowed", "GET /v1/openapi.json lists all paths with their methods."),
    413: ("too_large", "Send less at once."),
    415: ("unsupported_media_type", "Send the content type that the path takes."),
}


def problem_of(error: Exception, request_id: str = "") -> ProblemBody:
    """The problem body for an error. What callers must not see is logged instead."""
    match error:
        case TrueweaveError():
            kind = KINDS[next(one for one in type(error).__mro__ if one in KINDS)]
            current, state = current_request()
            is_shown = kind.is_shown(state.get("caller"))
            if kind.status >= 500 or (kind.to_operator and not is_shown):
                _log.warning(
                    "%s: %s",
                    kind.code,
                    error,
                    extra={"event": "request.problem", "request": request_id or current, "code": kind.code},
                )
            detail = error.fact if is_shown else kind.detail
            near = list(getattr(error, "near", ()))
            return _problem(kind.status, kind.code, detail, kind.next_step, request_id, near=near)
        case Refusal():
            return _problem(error.status_code, error.code, error.detail, error.next_step, request_id)
        case RequestValidationError():
            found = [_field(one) for one in error.errors()[:_MOST_ERRORS]]
            told = "; ".join(f"{one.where}: {one.problem}" for one in found[:3])
            next_step = "GET /v1/openapi.json says what each path takes."
            return _problem(
                422, "invalid_request", f"The request is not valid: {told}.", next_step, request_id, errors=found
            )
        case HTTPException():
            code, next_step = _CODES.get(error.status_code, ("error", ""))
            return _problem(error.status_code, code, f"{error.detail}.".replace("..", "."), next_step, request_id)
        case _:
            return _problem(500, "internal", "The request failed by a bug.", _IN_LOG, request_id)


def _problem(status: int, code: str, detail: str, next_step: str, request_id: str, **more: Any) -> ProblemBody:
    return ProblemBody(
        type=f"urn:trueweave:problem:{code}",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        next_step=next_step,
        request_id=request_id,
        **more,
    )


def _field(error: Any) -> FieldProblem:
    return FieldProblem(where=".".join(map(str, error["loc"])), problem=str(error["msg"]))


def response_of(error: Exception, request_id: str = "", *, path: str = "") -> JSONResponse:
    """The response to a failed request. On the paths of OpenAI's and Ollama's protocols it also has `error`, where
    their clients look for the message."""
    found = problem_of(error, request_id)
    body = found.model_dump()
    told = f"{found.detail} ({found.code})"
    if path.startswith("/v1/chat/"):
        body["error"] = {"message": told, "type": found.code, "code": found.code}
    elif path.startswith("/api/"):
        body["error"] = told
    headers = dict(getattr(error, "headers", None) or {})
    if not isinstance(error, TrueweaveError | HTTPException | RequestValidationError):
        headers["Connection"] = "close"  # uvicorn closes it after an exception, so clients must not reuse it
    if found.status == 503 or getattr(error, "retry_after", None):
        headers.setdefault("Retry-After", str(max(1, round(getattr(error, "retry_after", None) or 5))))
    return JSONResponse(body, found.status, headers, MEDIA_TYPE)


def request_id_of(request: Request) -> str:
    """The id that the middleware gave a request."""
    return str(getattr(request.state, "request_id", ""))


def install(app: FastAPI) -> None:
    """Make an application return all errors as problems."""

    async def answer(request: Request, error: Exception) -> JSONResponse:
        return response_of(error, request_id_of(request), path=request.url.path)

    for kind in (TrueweaveError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, answer)


_CONTENT = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemBody"}}}
RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "The request cannot be carried out as it is.", "content": _CONTENT},
    "5XX": {"description": "The server, its database or a model failed.", "content": _CONTENT},
}


def add_schemas(openapi: dict[str, Any]) -> None:
    """Add the schema of problems to an OpenAPI document."""
    schema = ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
    known = openapi.setdefault("components", {}).setdefault("schemas", {})
    known |= schema.pop("$defs", {})
    known["ProblemBody"] = schema
