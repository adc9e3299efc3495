import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter, useLocation } from "react-router";
import { expect, test } from "vitest";
import { FilterBar } from "./FilterBar";
import { useFilter } from "./useFilter";

function View() {
  const passing = useFilter();
  const { search } = useLocation();
  return (
    <>
      <FilterBar passing={passing} />
      <code>{search}</code>
      <p>{passing.keep("/w/entity/a?doc=b")}</p>
      <p>{passing.keep("/w/relation/c")}</p>
    </>
  );
}

test("a filter is in the address, follows to other views, and is cleared there", async () => {
  const user = userEvent.setup();
  render(
    <MemoryRouter initialEntries={["/w/entity/a?doc=b"]}>
      <View />
    </MemoryRouter>,
  );
  expect(screen.getByText("/w/relation/c")).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Filter" }));
  await user.type(screen.getByLabelText("Only documents"), "kind=letter{Enter}");
  expect(screen.getByRole("status").textContent).toContain("Only documents that pass the filter");
  const filter = new URLSearchParams({ filter: '{"metadata":{"kind":["letter"]}}' });
  expect(screen.getByText(`?doc=b&${filter}`)).toBeVisible();
  expect(screen.getByText(`/w/entity/a?doc=b&${filter}`)).toBeVisible();
  expect(screen.getByText(`/w/relation/c?${filter}`)).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Clear the filter" }));
  expect(screen.getByText("?doc=b")).toBeVisible();
  expect(screen.getByText("all documents")).toBeVisible();
});
