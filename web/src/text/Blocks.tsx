import { Fragment, type ReactNode, useMemo } from "react";
import styles from "./Blocks.module.css";
import { blocksOf, type Span } from "./tables";

interface Props {
  text: string;
  /** Shows a span of the text, in code points. */
  children: (start: number, end: number) => ReactNode;
}

/** A text in which lines with bars between cells are shown as tables. */
export function Blocks({ text, children }: Props) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return blocks.map(({ start, end, rows }) =>
    rows ? (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keys
      <section key={start} className={styles.scroll} aria-label="Table" tabIndex={0}>
        <table className={styles.table}>
          <Rows rows={rows}>{children}</Rows>
        </table>
      </section>
    ) : (
      <Fragment key={start}>{children(start, end)}</Fragment>
    ),
  );
}

function Rows({ rows: [head = [], ...rows], children }: { rows: Span[][]; children: Props["children"] }) {
  return (
    <>
      <thead>
        <tr>
          {head.map(({ start, end }) => (
            <th key={start} scope="col">
              {children(start, end)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row[0]?.start}>
            {row.map(({ start, end }) => (
              <td key={start}>{children(start, end)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </>
  );
}
