// The filter on documents in the address of a view, which follows from page to page.
import { useSearchParams } from "react-router";
import type { Filter } from "../api/ask";
import { IN_PLACE } from "../shell/views";
import { isEmptyFilter, readObject } from "./address";

export interface Passing {
  filter: Filter;
  /** As JSON; empty if all documents pass. */
  text: string;
  /** The address of a view under the same filter. */
  keep: (path: string) => string;
  change: (filter: Filter) => void;
}

/** The filter in this address. Throws an Error that says what is wrong with it. */
export function useFilter(): Passing {
  const [params, setParams] = useSearchParams();
  const filter = readObject(params, "filter") as Filter;
  const text = filterJson(filter);
  return {
    filter,
    text,
    keep: (path) => withFilter(path, text),
    change: (to) => {
      const changed = new URLSearchParams(params);
      if (filterJson(to)) changed.set("filter", filterJson(to));
      else changed.delete("filter");
      setParams(changed, IN_PLACE);
    },
  };
}

/** A filter as routes take it; empty if all documents pass. */
export const filterJson = (filter: Filter): string => (isEmptyFilter(filter) ? "" : JSON.stringify(filter));

/** The parameter of a route for a filter as JSON. */
export const filterQuery = (text: string): { filter?: string } => (text ? { filter: text } : {});

/** An address with a filter as JSON. */
export const withFilter = (path: string, text: string): string =>
  text ? `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ filter: text })}` : path;
