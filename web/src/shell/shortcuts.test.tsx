import { render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createMemoryRouter, useSearchParams } from "react-router";
import { RouterProvider } from "react-router/dom";
import { afterEach, expect, test, vi } from "vitest";
import { setSingleKeys } from "./preferences";
import { useShortcuts } from "./shortcuts";
import { IN_PLACE } from "./views";

afterEach(() => setSingleKeys(true));

function show() {
  const acts = { "g a": vi.fn(), "?": vi.fn(), "ctrl+k": vi.fn() };
  function Page() {
    useShortcuts(acts);
    return <input aria-label="field" />;
  }
  const { getByLabelText } = render(<Page />);
  return { acts, field: getByLabelText("field") };
}

test("two keys in a row are one shortcut", async () => {
  const { acts } = show();
  await userEvent.keyboard("a");
  expect(acts["g a"]).not.toHaveBeenCalled();
  await userEvent.keyboard("ga");
  expect(acts["g a"]).toHaveBeenCalledOnce();
});

test("in a field, keys are text; with Control they are shortcuts", async () => {
  const { acts, field } = show();
  await userEvent.type(field, "?ga");
  expect(field).toHaveValue("?ga");
  expect(acts["?"]).not.toHaveBeenCalled();
  await userEvent.keyboard("{Control>}k{/Control}");
  expect(acts["ctrl+k"]).toHaveBeenCalledOnce();
});

test("single keys can be switched off", async () => {
  const { acts } = show();
  setSingleKeys(false);
  await userEvent.keyboard("?ga");
  expect(acts["?"]).not.toHaveBeenCalled();
  expect(acts["g a"]).not.toHaveBeenCalled();
});

test("the second key of a pair is no shortcut of another component", async () => {
  const add = vi.fn();
  const { acts } = show();
  function View() {
    useShortcuts({ a: add });
    return null;
  }
  render(<View />);
  await userEvent.keyboard("ga");
  expect(acts["g a"]).toHaveBeenCalledOnce();
  expect(add).not.toHaveBeenCalled();
  await userEvent.keyboard("a");
  expect(add).toHaveBeenCalledOnce();
});

test("a key that comes before the browser has drawn again finds the address of the key before it", async () => {
  function Page() {
    const [params, setParams] = useSearchParams();
    const at = Number(params.get("at"));
    useShortcuts({ j: () => setParams({ at: String(at + 1) }, IN_PLACE) });
    return null;
  }
  const router = createMemoryRouter([{ path: "/", element: <Page /> }]);
  render(<RouterProvider router={router} />);
  for (const expected of ["?at=1", "?at=2", "?at=3"]) {
    globalThis.document.dispatchEvent(new KeyboardEvent("keydown", { key: "j", cancelable: true }));
    // Only promises are settled: nothing that was scheduled for later is drawn.
    for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    expect(router.state.location.search).toBe(expected);
  }
});
