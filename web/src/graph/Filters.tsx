import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";
import { api, dataOf } from "../api/client";
import { number } from "../text/words";
import { useAfterPause } from "../ui/useAfterPause";
import type { GraphState } from "./address";
import styles from "./GraphPage.module.css";

const SUGGESTED = 8;

interface Props {
  workspace: string;
  state: GraphState;
  /** The weight of the heaviest relation that was loaded. */
  heaviest: number;
  onChange: (to: Partial<GraphState>) => void;
}

/** How far the graph reaches, and which relations it has. */
export function Filters({ workspace, state, heaviest, onChange }: Props) {
  const step = heaviest > 20 ? 1 : heaviest > 2 ? 0.5 : 0.1;
  return (
    <div className={styles.filters}>
      <label>
        <span>Relations away</span>
        <select value={state.hops} onChange={(event) => onChange({ hops: Number(event.target.value) })}>
          <option value={1}>1</option>
          <option value={2}>2</option>
          <option value={3}>3</option>
        </select>
      </label>
      <label>
        <span>
          Lowest weight <b>{number(state.min)}</b>
        </span>
        <input
          type="range"
          min={0}
          max={Math.max(Math.ceil(heaviest), step)}
          step={step}
          value={state.min}
          onChange={(event) => onChange({ min: Number(event.target.value) })}
        />
      </label>
      <DocumentField
        workspace={workspace}
        value={state.document}
        onChange={(document) => onChange({ document })}
      />
    </div>
  );
}

const uris = (workspace: string, prefix: string) =>
  queryOptions({
    queryKey: ["uris", workspace, prefix],
    queryFn: async ({ signal }) => {
      const params = { path: { workspace }, query: { prefix, limit: SUGGESTED } };
      const found = await dataOf(api.GET("/v1/workspaces/{workspace}/documents", { params, signal }));
      return found.items.map((one) => one.uri);
    },
  });

interface DocumentProps {
  workspace: string;
  value: string;
  onChange: (uri: string) => void;
}

/** The uri of a document, used when it is complete: chosen, or ended with Enter or by leaving the field. */
function DocumentField({ workspace, value, onChange }: DocumentProps) {
  const [text, setText] = useState(value);
  const list = useId();
  useEffect(() => setText(value), [value]);
  const sought = useAfterPause(text);
  const { data = [] } = useQuery({ ...uris(workspace, sought), placeholderData: keepPreviousData });
  const use = (uri: string) => uri.trim() !== value && onChange(uri.trim());
  return (
    <label className={styles.document}>
      <span>Stated in document</span>
      <input
        type="search"
        list={list}
        value={text}
        placeholder="any"
        spellCheck={false}
        onChange={(event) => {
          setText(event.target.value);
          if (event.target.value === "" || data.includes(event.target.value)) use(event.target.value);
        }}
        onBlur={() => use(text)}
        onKeyDown={(event) => event.key === "Enter" && use(text)}
      />
      <datalist id={list}>
        {data.map((uri) => (
          <option key={uri} value={uri} />
        ))}
      </datalist>
    </label>
  );
}
