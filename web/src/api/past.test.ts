import { afterEach, expect, test } from "vitest";
import { pastHeaders, showPast } from "./past";

const THEN = new Date("2026-05-01T12:00:00Z");
const SAID = { "Trueweave-As-Of": "2026-05-01T12:00:00.000Z" };

afterEach(() => showPast("a b", null));

test("requests to the workspace say which time they are about", () => {
  expect(pastHeaders("/v1/workspaces/a%20b/entities")).toEqual({});
  showPast("a b", THEN);
  expect(pastHeaders("/v1/workspaces/a%20b/entities?limit=5")).toEqual(SAID);
  expect(pastHeaders("/v1/workspaces/a%20b")).toEqual(SAID);
  showPast("a b", null);
  expect(pastHeaders("/v1/workspaces/a%20b")).toEqual({});
});

test("others, and those about the present, do not", () => {
  showPast("a b", THEN);
  for (const path of [
    "/v1/me",
    "/v1/workspaces/a%20bc",
    "/v1/workspaces/a%20b/history",
    "/v1/workspaces/a%20b/activity",
    "/v1/workspaces/a%20b/watches/alerts",
  ])
    expect(pastHeaders(path)).toEqual({});
});
