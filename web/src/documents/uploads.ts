// Adding files: choose, estimate, send. An upload outlives the view that started it, so that people can look at other
// views meanwhile, and log in again if their session ends. It ends when the page is closed.
import { problemOf, type Schemas } from "../api/client";
import { pastHeaders } from "../api/past";
import { bytes } from "../text/words";
import type { Cap } from "../ui/SpendingLimit";
import { added, type Estimate } from "./estimates";
import { batchesOf, isTooLarge, type NamedFile, readable } from "./files";

export type Told = Schemas["NotUsedBody"];
export type Taken = Schemas["TakenBody"];
export type Phase = "idle" | "estimating" | "ready" | "sending" | "stopped" | "done";

export interface UploadState {
  phase: Phase;
  files: NamedFile[];
  /** How many files of this phase are done. */
  done: number;
  estimate: Estimate | null;
  taken: Taken;
  told: Told[];
  error: unknown;
}

const NONE: Taken = { new: 0, unchanged: 0, unreadable: 0, refused: 0, skipped: 0 };
const START: UploadState = {
  phase: "idle",
  files: [],
  done: 0,
  estimate: null,
  taken: NONE,
  told: [],
  error: null,
};

/** A request that is sent once: sent again after a failure, it has the same key. */
interface Batch {
  files: NamedFile[];
  key: string;
}

/** The upload to one workspace. */
export class Upload {
  private current = START;
  private readonly listeners = new Set<() => void>();
  private abort = new AbortController();
  private left: Batch[] = [];
  private cap: { body: NonNullable<Cap>; key: string } | null = null;
  private job = "";

  constructor(private readonly workspace: string) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly state = (): UploadState => this.current;

  /** Adds files to those that were chosen before, and estimates what they will take. A file with the same name
   * replaces the one before. */
  async choose(files: NamedFile[], mostBytes: number): Promise<void> {
    if (files.length === 0 || this.current.phase === "sending") return;
    const { phase } = this.current;
    const known = phase === "stopped" ? this.left.flatMap((batch) => batch.files) : this.current.files;
    const kept = phase === "done" ? [] : this.current.told;
    const all = [
      ...new Map([...(phase === "done" ? [] : known), ...files].map((one) => [one.uri, one])).values(),
    ];
    const fitting = all.filter((one) => !isTooLarge(one, mostBytes));
    const tooLarge = all.filter((one) => isTooLarge(one, mostBytes));
    const told = tooLarge.map((one) =>
      unreadable(one, `It is larger than ${bytes(mostBytes)}, which is the most that this server takes.`),
    );
    this.left = batchesOf(fitting, mostBytes).map((batch) => ({ files: batch, key: newKey() }));
    this.cap = null;
    this.job = "";
    this.set({ ...START, files: fitting, told: [...kept, ...told] });
    await this.estimate();
  }

  /** Estimates again, after a failure. */
  async estimate(): Promise<void> {
    const signal = this.start("estimating");
    const estimates: Estimate[] = [];
    try {
      for (const { files } of this.left) {
        const { there } = await readable(files);
        signal.throwIfAborted();
        if (there.length > 0) estimates.push(await this.post<Estimate>("estimate/files", there, signal));
        signal.throwIfAborted();
        this.set({ done: this.current.done + files.length });
      }
      this.set({ phase: "ready", estimate: added(estimates) });
    } catch (error) {
      if (!signal.aborted) this.set({ phase: "ready", error });
    }
  }

  /** Sends the files. The cap is set before the first. */
  async send(cap: Cap): Promise<void> {
    this.cap = cap && { body: cap, key: newKey() };
    await this.resume();
  }

  /** Sends what is left after a failure, or after `stop`. */
  async resume(): Promise<void> {
    const signal = this.start("sending");
    globalThis.addEventListener("beforeunload", warn);
    try {
      if (this.cap) await this.setBudget(this.cap, signal);
      this.cap = null;
      for (let batch = this.left[0]; batch; batch = this.left[0]) {
        await this.sendBatch(batch, signal);
        this.left.shift();
      }
      this.set({ phase: "done" });
    } catch (error) {
      if (this.current.phase === "sending")
        this.set({ phase: "stopped", error: signal.aborted ? null : error });
    } finally {
      globalThis.removeEventListener("beforeunload", warn);
    }
  }

  /** Stops sending. What the server has is kept. */
  stop(): void {
    this.abort.abort();
  }

  /** Forgets the files and the results. */
  clear(): void {
    this.abort.abort();
    this.left = [];
    this.set(START);
  }

  private async sendBatch({ files, key }: Batch, signal: AbortSignal): Promise<void> {
    const { there, gone } = await readable(files);
    signal.throwIfAborted();
    const told = gone.map((one) =>
      unreadable(one, "It was changed or removed after you chose it. Add it again."),
    );
    const taken = { ...NONE, unreadable: gone.length };
    if (there.length > 0) {
      const query = this.job ? `?${new URLSearchParams({ job: this.job })}` : "";
      const sent = await this.post<Schemas["SubmittedBody"]>(`documents/files${query}`, there, signal, key);
      this.job = sent.id;
      told.push(...sent.not_used);
      for (const name of Object.keys(NONE) as (keyof Taken)[]) taken[name] += sent.taken[name];
    }
    signal.throwIfAborted(); // it may have been cleared meanwhile; a batch that is sent again is taken once
    for (const name of Object.keys(NONE) as (keyof Taken)[]) taken[name] += this.current.taken[name];
    this.set({ done: this.current.done + files.length, taken, told: [...this.current.told, ...told] });
  }

  private async setBudget(cap: { body: NonNullable<Cap>; key: string }, signal: AbortSignal): Promise<void> {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": cap.key };
    await this.request("budget", { method: "PUT", headers, body: JSON.stringify(cap.body), signal });
  }

  private post<T>(path: string, files: NamedFile[], signal: AbortSignal, key?: string): Promise<T> {
    const body = new FormData();
    for (const { file, uri } of files) {
      body.append("file", file, file.name);
      body.append("uri", uri);
    }
    const headers: Record<string, string> = key ? { "Idempotency-Key": key } : {};
    return this.request<T>(path, { method: "POST", headers, body, signal });
  }

  private async request<T>(path: string, init: RequestInit): Promise<T> {
    const address = `/v1/workspaces/${encodeURIComponent(this.workspace)}/${path}`;
    const headers = { ...init.headers, ...pastHeaders(address) }; // nothing can be added to the past: the server says so
    const response = await fetch(address, { ...init, headers, credentials: "same-origin" });
    const body: unknown = await response.json().catch(() => null);
    if (!response.ok || body === null) throw problemOf(response, body);
    return body as T;
  }

  private start(phase: Phase): AbortSignal {
    this.abort.abort();
    this.abort = new AbortController();
    const isSent = phase === "sending" && this.current.phase === "stopped";
    this.set({ phase, error: null, done: isSent ? this.current.done : 0 });
    return this.abort.signal;
  }

  private set(change: Partial<UploadState>): void {
    this.current = { ...this.current, ...change };
    for (const listener of this.listeners) listener();
  }
}

/** Asks before the page is closed while files are being sent. */
const warn = (event: BeforeUnloadEvent): void => event.preventDefault();

const unreadable = (one: NamedFile, reason: string): Told => ({ kind: "unreadable", place: one.uri, reason });

function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (one) =>
    one.toString(16).padStart(2, "0"),
  ).join("");
}

const uploads = new Map<string, Upload>();

/** The upload to a workspace in this page. */
export function uploadTo(workspace: string): Upload {
  const known = uploads.get(workspace) ?? new Upload(workspace);
  uploads.set(workspace, known);
  return known;
}

/** Ends all uploads, and forgets their files. */
export function dropUploads(): void {
  for (const upload of uploads.values()) upload.clear();
  uploads.clear();
}
