import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type RefObject, useState } from "react";
import { Autocomplete, Button, Input, Label, Menu, MenuItem, SearchField } from "react-aria-components";
import { api, asProblem, dataOf } from "../api/client";
import { filterQuery } from "../ask/useFilter";
import { useShortcuts } from "../shell/shortcuts";
import { counted } from "../text/words";
import { useAfterPause } from "../ui/useAfterPause";
import styles from "./GraphPage.module.css";
import { typeName } from "./shown";

const SUGGESTED = 8;

const completions = (workspace: string, text: string, filter: string) =>
  queryOptions({
    queryKey: ["completions", workspace, text, filter],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace }, query: { text, limit: SUGGESTED, ...filterQuery(filter) } };
      const found = await dataOf(api.GET("/v1/workspaces/{workspace}/entities/complete", { params, signal }));
      return found.entities;
    },
  });

interface Props {
  workspace: string;
  /** As JSON; empty if all documents pass. */
  filter: string;
  label: string;
  field: RefObject<HTMLInputElement | null>;
  onChoose: (id: string) => void;
}

/** A field that completes the names of entities. */
export function EntitySearch({ workspace, filter, label, field, onChoose }: Props) {
  const [input, setInput] = useState("");
  const text = input.trim();
  const sought = useAfterPause(text);
  const { data, isError, error, isFetching } = useQuery({
    ...completions(workspace, sought, filter),
    enabled: sought !== "",
    placeholderData: keepPreviousData,
  });
  const found = text && data ? data : [];
  useShortcuts({ "/": () => field.current?.focus() });
  // A field of its own for each search: React Aria would keep pointing at a suggestion that is gone.
  const [searches, setSearches] = useState(0);
  const choose = (id: string) => {
    setInput("");
    setSearches(searches + 1);
    onChoose(id);
  };
  return (
    <search className={styles.search}>
      <Autocomplete key={searches} inputValue={input} onInputChange={setInput}>
        <SearchField className={styles.searchField ?? ""}>
          <Label>{label}</Label>
          <Input ref={field} placeholder="The beginning of a name" />
          {input && (
            <Button className={`quiet ${styles.clear}`} aria-label="Clear">
              <X size={16} aria-hidden="true" />
            </Button>
          )}
        </SearchField>
        <div className={styles.suggestions} hidden={!text}>
          <Menu
            aria-label="Entities"
            className={styles.menu ?? ""}
            items={found}
            onAction={(id) => choose(String(id))}
            renderEmptyState={() => (
              <p className={styles.none}>
                {isError
                  ? asProblem(error).message
                  : isFetching || sought !== text
                    ? "Searching…"
                    : "No name begins with this."}
              </p>
            )}
          >
            {(one) => (
              <MenuItem id={one.id} textValue={one.name} className={styles.suggestion ?? ""}>
                <bdi>{one.name}</bdi>
                <span>
                  {typeName(one.type)} · {counted(one.degree, "relation")}
                </span>
              </MenuItem>
            )}
          </Menu>
        </div>
      </Autocomplete>
    </search>
  );
}
