"""Telemetry: spans, measurements of questions and model calls, and the steps of a question."""
