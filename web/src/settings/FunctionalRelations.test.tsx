import { render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, test } from "vitest";
import { FunctionalRelations } from "./FunctionalRelations";
import { asFunctional, asRows } from "./settings";

test("relations are added, changed and removed", async () => {
  let said = {};
  function Page() {
    const [rows, setRows] = useState(asRows({ "born in": "one target" }));
    said = asFunctional(rows);
    return <FunctionalRelations rows={rows} onChange={setRows} />;
  }
  const { getByLabelText, getByRole, queryByRole } = render(<Page />);
  await userEvent.click(getByRole("button", { name: "Add a relation" }));
  await userEvent.type(getByLabelText("Relation 2"), "chief of");
  await userEvent.selectOptions(getByLabelText("Relation 2 has only"), "one source at a time");
  expect(said).toEqual({ "born in": "one target", "chief of": "one source at a time" });
  await userEvent.click(getByRole("button", { name: "Remove relation 1" }));
  expect(said).toEqual({ "chief of": "one source at a time" });
  await userEvent.click(getByRole("button", { name: "Remove relation 1" }));
  expect(said).toEqual({});
  expect(queryByRole("listitem")).toBeNull();
});
