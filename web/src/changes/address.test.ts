import { expect, test } from "vitest";
import { localTime, utcTime } from "../text/times";
import { firstTime, readTimes, writeTimes } from "./address";

const SINCE = "2026-05-01T12:00:00.000Z";

test("times go through the address", () => {
  const times = { since: SINCE, until: "" };
  expect(readTimes(writeTimes(times))).toEqual(times);
  expect(readTimes(new URLSearchParams("since=2026-05-01T14:00:00%2B02:00&until=soon"))).toEqual(times);
  expect(writeTimes({ since: "", until: "" }).toString()).toBe("");
});

test("the first time is one that is known when its index is built", () => {
  const since = "2026-05-01T12:00:00.123456Z";
  expect(firstTime({ since, oldest: since })).toBe("2026-05-01T12:00:00.124Z");
  expect(firstTime({ since, oldest: "2026-06-01T00:00:00.5Z" })).toBe("2026-06-01T01:00:00.500Z");
});

test("a field has a time in full seconds, which is not before it", () => {
  expect(utcTime(localTime("2026-05-01T12:00:00.123Z"))).toBe("2026-05-01T12:00:01.000Z");
  expect(utcTime(localTime(SINCE))).toBe(SINCE);
  expect(utcTime("")).toBe("");
});
