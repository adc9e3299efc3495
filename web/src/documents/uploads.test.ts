import { afterEach, expect, test, vi } from "vitest";
import type { NamedFile } from "./files";
import { Upload } from "./uploads";

afterEach(() => vi.unstubAllGlobals());

const MOST = 10_000;
const ESTIMATE = {
  documents: 1,
  unchanged: 0,
  unreadable: 0,
  chunks: 2,
  notes: [],
  price: "0.1",
  most_price: "0.5",
};

const file = (uri: string, text = "text"): NamedFile => ({ uri, file: new File([text], uri) });

interface Sent {
  path: string;
  uris: string[];
  key: string | null;
}

type Reply = (sent: Sent) => Response | Promise<Response>;

const accepted: Reply = ({ path, uris }) =>
  path.startsWith("estimate")
    ? Response.json(ESTIMATE)
    : Response.json({
        id: "job",
        not_used: [],
        taken: { new: uris.length, unchanged: 0, unreadable: 0, refused: 0, skipped: 0 },
      });

/** A server that answers by `reply`, and what it was sent. */
function serve(reply: Reply): Sent[] {
  const all: Sent[] = [];
  vi.stubGlobal("fetch", async (address: string, init: RequestInit) => {
    init.signal?.throwIfAborted();
    const uris = init.body instanceof FormData ? init.body.getAll("uri").map(String) : [];
    const sent = { path: address.slice(18), uris, key: new Headers(init.headers).get("Idempotency-Key") };
    all.push(sent);
    return reply(sent);
  });
  return all;
}

const of = (sent: Sent[], path: string) => sent.filter((one) => one.path.startsWith(path));

test("files are estimated first, and sent when that is agreed to, as one job", async () => {
  const sent = serve(accepted);
  const upload = new Upload("ws");
  await upload.choose([file("a.pdf"), file("b.pdf")], MOST);
  expect(upload.state().phase).toBe("ready");
  expect(upload.state().estimate).toMatchObject({ documents: 2, chunks: 4, price: "0.2", most_price: "1" });
  expect(of(sent, "documents")).toEqual([]);
  await upload.send(null);
  expect(of(sent, "documents").map((one) => [one.path, one.uris])).toEqual([
    ["documents/files", ["a.pdf"]],
    ["documents/files?job=job", ["b.pdf"]],
  ]);
  expect(upload.state()).toMatchObject({ phase: "done", done: 2, taken: { new: 2 } });
});

test("a cap is set before anything is sent; if it is refused, nothing is", async () => {
  const sent = serve((one) =>
    one.path === "budget" ? Response.json({ detail: "No." }, { status: 403 }) : accepted(one),
  );
  const upload = new Upload("ws");
  await upload.choose([file("a.txt")], MOST);
  await upload.send({ price: "0.5" });
  expect(upload.state()).toMatchObject({ phase: "stopped", error: { status: 403 } });
  expect(of(sent, "documents")).toEqual([]);
});

test("a session that ends meanwhile stops it; what is left is sent again under the same key", async () => {
  let isLoggedIn = false;
  const sent = serve((one) =>
    one.uris[0] === "b.pdf" && !isLoggedIn && one.path.startsWith("documents")
      ? Response.json({ detail: "Log in." }, { status: 401 })
      : accepted(one),
  );
  const upload = new Upload("ws");
  await upload.choose([file("a.pdf"), file("b.pdf")], MOST);
  await upload.send(null);
  expect(upload.state()).toMatchObject({ phase: "stopped", done: 1, error: { status: 401 } });
  isLoggedIn = true;
  await upload.resume();
  expect(upload.state()).toMatchObject({ phase: "done", done: 2, taken: { new: 2 }, error: null });
  const [, refused, again] = of(sent, "documents");
  expect(again?.key).toBe(refused?.key);
  expect(of(sent, "documents")).toHaveLength(3);
});

test("a file that was removed after it was chosen is told, and the others are sent", async () => {
  const sent = serve(accepted);
  const gone = file("gone.txt");
  const upload = new Upload("ws");
  await upload.choose([gone, file("here.txt")], MOST);
  vi.spyOn(gone.file, "slice").mockImplementation(() => {
    const blob = new Blob([]);
    blob.arrayBuffer = () => Promise.reject(new DOMException("gone", "NotFoundError"));
    return blob;
  });
  await upload.send(null);
  expect(of(sent, "documents").map((one) => one.uris)).toEqual([["here.txt"]]);
  expect(upload.state().told.map((one) => one.place)).toEqual(["gone.txt"]);
  expect(upload.state().taken).toMatchObject({ new: 1, unreadable: 1 });
});

test("a file that is too large is told and not sent", async () => {
  const sent = serve(accepted);
  const upload = new Upload("ws");
  await upload.choose([file("large.txt", "x".repeat(MOST)), file("small.txt")], MOST);
  expect(upload.state().told).toMatchObject([{ place: "large.txt", kind: "unreadable" }]);
  expect(sent.map((one) => one.uris)).toEqual([["small.txt"]]);
});

test("files that are chosen while others are estimated are added to them", async () => {
  let release = () => {};
  const isFirst = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = 0;
  serve(async (one) => {
    if (asked++ === 0) await isFirst;
    return accepted(one);
  });
  const upload = new Upload("ws");
  const first = upload.choose([file("a.txt")], MOST);
  await vi.waitFor(() => expect(asked).toBe(1));
  await upload.choose([file("b.txt"), file("a.txt")], MOST);
  release();
  await first;
  expect(upload.state().files.map((one) => one.uri)).toEqual(["a.txt", "b.txt"]);
  expect(upload.state()).toMatchObject({ phase: "ready", done: 2, estimate: { documents: 1 } });
});

test("closing it while a request is under way leaves nothing behind", async () => {
  let release = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    release = resolve;
  });
  serve(async (one) => {
    if (one.path.startsWith("documents")) await isAnswered;
    return accepted(one);
  });
  const upload = new Upload("ws");
  await upload.choose([file("a.txt")], MOST);
  const sending = upload.send(null);
  await vi.waitFor(() => expect(upload.state().phase).toBe("sending"));
  upload.clear();
  release();
  await sending;
  expect(upload.state()).toMatchObject({ phase: "idle", files: [], taken: { new: 0 } });
});
