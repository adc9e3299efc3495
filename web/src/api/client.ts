// The typed client of the server, and its errors.
import createClient from "openapi-fetch";
import { pastHeaders } from "./past";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type ProblemBody = Schemas["ProblemBody"];

/** The client looks `fetch` up at each call, so that tests can replace it. */
export const api = createClient<paths>({
  baseUrl: globalThis.location.origin,
  credentials: "same-origin",
  fetch: (request) => {
    const { pathname } = new URL(request.url);
    for (const [name, value] of Object.entries(pastHeaders(pathname))) request.headers.set(name, value);
    return globalThis.fetch(request);
  },
});

/** An error that a page can show: what happened, what to do next, and the id under which the server logged it. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly nextStep: string;
  readonly requestId: string;
  readonly near: string[];
  /** Seconds to wait before the next try, if the server asks for that. */
  readonly retryAfter: number | null;

  constructor(body: Partial<ProblemBody> & { detail: string }, retryAfter: number | null = null) {
    super(body.detail);
    this.name = "Problem";
    this.status = body.status ?? 0;
    this.code = body.code ?? "unknown";
    this.nextStep = body.next_step ?? "";
    this.requestId = body.request_id ?? "";
    this.near = body.near ?? [];
    this.retryAfter = retryAfter;
  }
}

/** The problem that a failed response describes. */
export function problemOf(response: Response, body: unknown): Problem {
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const after = Number.isFinite(seconds) ? seconds : null;
  if (isProblem(body)) return new Problem({ ...body, status: response.status }, after);
  const detail = `The server answered with status ${response.status} and no explanation.`;
  return new Problem({ detail, status: response.status, next_step: "Try again later." }, after);
}

function isProblem(body: unknown): body is ProblemBody {
  return typeof body === "object" && body !== null && typeof (body as ProblemBody).detail === "string";
}

/** The problem for anything that was thrown while talking to the server. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof TypeError) {
    const next = "Check that the server is running and that you are connected, then try again.";
    return new Problem({ detail: "The server cannot be reached.", code: "unreachable", next_step: next });
  }
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem({ detail: `The page failed: ${detail}`, code: "page", next_step: "Reload the page." });
}

interface Result<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of a response. Throws Problem if it has none. */
export async function dataOf<T>(answered: Promise<Result<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await answered;
  if (!response.ok || data === undefined || data === null) throw problemOf(response, error);
  return data;
}
