import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, dataOf } from "../api/client";
import { counted, number } from "../text/words";
import { documentPath } from "./address";
import styles from "./ReaderPage.module.css";

export function useOutline(workspace: string, uri: string) {
  return useQuery({
    queryKey: ["outline", workspace, uri],
    queryFn: ({ signal }) => {
      const params = { path: { workspace }, query: { uri } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/document/outline", { params, signal }));
    },
  });
}

export type OutlineData = NonNullable<ReturnType<typeof useOutline>["data"]>;

/** The sections of a document, or its pages if it has no sections; empty if it has neither. */
export function entriesOf({ places }: OutlineData): OutlineData["places"] {
  const sections = places.filter((one) => one.kind === "heading");
  return sections.length > 0 ? sections : places.filter((one) => one.kind === "page");
}

interface Props {
  workspace: string;
  outline: OutlineData;
  /** The character that the address names. */
  at: number;
  onGo?: () => void;
}

export function Outline({ workspace, outline, at, onGo }: Props) {
  const entries = entriesOf(outline);
  const least = Math.min(...entries.map((one) => one.level));
  const current = entries.findLast((one) => one.start <= at);
  return (
    <>
      <ol className={styles.outline}>
        {entries.map((one) => (
          <li key={`${one.start} ${one.label}`} data-level={Math.min(one.level - least, 4)}>
            <Link
              to={documentPath(workspace, outline.uri, one.start)}
              aria-current={one === current && at > 0 ? "location" : undefined}
              {...(onGo ? { onClick: onGo } : {})}
            >
              <bdi>{one.kind === "page" ? `Page ${one.label}` : one.label}</bdi>
            </Link>
          </li>
        ))}
      </ol>
      {outline.total > outline.places.length && (
        <p className="muted">
          The first {number(outline.places.length)} of{" "}
          {counted(outline.total, "page or section", "pages and sections")}.
        </p>
      )}
    </>
  );
}
