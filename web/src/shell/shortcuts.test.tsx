import { render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import { setSingleKeys } from "./preferences";
import { useShortcuts } from "./shortcuts";

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
