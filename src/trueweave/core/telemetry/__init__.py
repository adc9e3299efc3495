"""What Trueweave measures and traces: spans, measurements of questions and model calls, and the steps of a question."""
