"""Turns the problems that a server returns (RFC 9457) into the errors that AsyncTrueweave raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trueweave.core import errors
from trueweave.core.errors import (
    AccessDenied,
    AmbiguousName,
    KeyLimitReached,
    ModelUnavailable,
    RequestRefused,
    ServerError,
    ServerUnavailable,
    TrueweaveError,
    UnknownDocument,
    UnknownEntity,
)

MEDIA_TYPE = "application/problem+json"
DAILY_LIMIT = "daily_limit_reached"
UNDER_WAY = "under_way"  # the same request is in progress
# The server has done nothing, and may be able to soon.
LATER = frozenset(
    {
        "database_unavailable",
        "workspace_moving",
        "workspace_replaced",
        "store_unavailable",
        "copy_behind",
        "server_unavailable",
    }
)

CLASSES: dict[str, type[TrueweaveError]] = {
    "internal": errors.Defect,
    "not_configured": errors.ConfigError,
    "invalid_argument": errors.InvalidArgument,
    "price_unknown": errors.PriceUnknown,
    "no_vectors": errors.NoVectors,
    "no_graph_vectors": errors.NoGraphVectors,
    "no_reports": errors.NoReports,
    "unknown_method": errors.UnknownMethod,
    "invalid_filter": errors.ConfigError,
    "question_too_long": errors.QuestionTooLong,
    "invalid_document": errors.InvalidDocument,
    "unreadable_file": errors.UnreadableFile,
    "not_text": errors.NotText,
    "plugin_failed": errors.PluginFailed,
    "model_failed": errors.ModelError,
    "model_unavailable": errors.ModelUnavailable,
    "model_files_missing": errors.ModelFilesMissing,
    "model_refused": errors.ModelRefused,
    "model_reply_unusable": errors.BadReply,
    "budget_reached": errors.BudgetReached,
    DAILY_LIMIT: errors.KeyLimitReached,
    "storage_full": errors.StorageFull,
    "database_error": errors.DatabaseError,
    "database_unavailable": errors.DatabaseUnavailable,
    "workspace_moving": errors.WorkspaceMoving,
    "workspace_loading": errors.WorkspaceLoading,
    "disk_full": errors.DiskFull,
    "schema_mismatch": errors.SchemaMismatch,
    "not_isolated": errors.NotIsolated,
    "not_for_restricted": errors.NotForRestricted,
    "unknown_workspace": errors.UnknownWorkspace,
    "workspace_replaced": errors.WorkspaceReplaced,
    "unknown_community": errors.UnknownCommunity,
    "unknown_document": errors.UnknownDocument,
    "unknown_job": errors.UnknownJob,
    "unknown_entity": errors.UnknownEntity,
    "ambiguous_name": errors.AmbiguousName,
    "unknown_relation": errors.UnknownRelation,
    "unknown_run": errors.UnknownRun,
    "unknown_question": errors.UnknownQuestion,
    "space_mismatch": errors.SpaceMismatch,
    "changes_gone": errors.ChangesGone,
    "store_failed": errors.StoreError,
    "store_unavailable": errors.StoreUnavailable,
    "copy_missing": errors.ProjectionMissing,
    "copy_behind": errors.ProjectionBehind,
    "server_failed": errors.ServerError,
    "server_unavailable": errors.ServerUnavailable,
    "source_unavailable": errors.SourceUnavailable,
    "item_gone": errors.ItemGone,
    "removal_not_confirmed": errors.RemovalNotConfirmed,
    "source_busy": errors.SourceBusy,
    "source_not_allowed": errors.SourceNotAllowed,
    "unknown_source": errors.UnknownSource,
    "unknown_watch": errors.UnknownWatch,
    "webhook_not_allowed": errors.WebhookNotAllowed,
    "alert_not_sent": errors.AlertNotSent,
    "unknown_access_rule": errors.UnknownAccessRule,
    "certificate_refused": errors.CertificateRefused,
    "invalid_signature": errors.SignatureInvalid,
    "invalid_rule": errors.RuleError,
    "unknown_rule": errors.RuleError,
    "already_decided": errors.RuleError,
    "unauthorized": errors.AccessDenied,
    "forbidden": errors.AccessDenied,
    "too_many_requests": errors.ServerUnavailable,
}


def error_of(problem: Mapping[str, Any], retry_after: float | None = None) -> TrueweaveError:
    """The error for a problem, with its message, the next step, and names similar to an unknown one. The id of the
    request in the server's log is added as a note."""
    detail, next_step = str(problem.get("detail", "")), str(problem.get("next_step", ""))
    message = " ".join(part for part in (detail, next_step) if part)
    status = problem.get("status", 0)
    kind = CLASSES.get(str(problem.get("code")), ServerError if status >= 500 else RequestRefused)
    error = _made(kind, message, tuple(map(str, problem.get("near", ()))), retry_after)
    if isinstance(error, RequestRefused):
        error.too_large = problem.get("code") == "too_large"
    if request := problem.get("request_id"):
        error.add_note(f"In the log of the server this is request {request}.")
    return error


def _made(kind: type[TrueweaveError], message: str, near: tuple[str, ...], retry_after: float | None) -> TrueweaveError:
    if kind is UnknownDocument:
        return UnknownDocument(message, near)
    if kind is UnknownEntity or kind is AmbiguousName:
        return kind(message, near)
    if kind is KeyLimitReached:
        return KeyLimitReached(message, retry_after or 0.0)
    if kind is ModelUnavailable:
        return ModelUnavailable(message, retry_after=retry_after)
    return kind(message)


def error_of_status(status: int, address: str) -> TrueweaveError:
    """The error for a response without a problem in it, such as from a proxy in front of the server."""
    if status in (401, 403, 407):
        return AccessDenied(f"{address} refuses access (HTTP {status}). Check the address and the key.")
    if status == 413:
        error = RequestRefused(f"{address} takes no request as large as this (HTTP 413). Send less at once.")
        error.too_large = True
        return error
    if status in (429, 502, 503, 504):
        return ServerUnavailable(f"{address} cannot answer now (HTTP {status}). Try again later.")
    return ServerError(
        f"{address} does not answer as a server of Trueweave does (HTTP {status}). Check the address, and that the "
        "versions of client and server go together."
    )
