// Server-sent events, as a response to any request: `EventSource` cannot send a body, and hides why it was refused.
import { EventSourceParserStream } from "eventsource-parser/stream";
import { Problem, type ProblemBody, problemOf } from "./client";
import { pastHeaders } from "./past";

export interface StreamEvent {
  name: string;
  data: unknown;
}

/** The events of a stream until it ends. Throws Problem if the request is refused, or when the stream has one. */
export async function* streamed(path: string, init: RequestInit): AsyncGenerator<StreamEvent> {
  const headers = { ...init.headers, ...pastHeaders(path), Accept: "text/event-stream" };
  const response = await fetch(path, { ...init, headers, credentials: "same-origin" });
  if (!response.ok || !response.body) throw problemOf(response, await response.json().catch(() => null));
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event = "", data } of read(events)) {
    const parsed: unknown = JSON.parse(data);
    if (event === "problem") throw new Problem(parsed as ProblemBody);
    yield { name: event, data: parsed };
  }
}

/** Not every browser can iterate over a stream. */
async function* read<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
