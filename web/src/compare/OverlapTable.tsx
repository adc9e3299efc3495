import styles from "./ComparePage.module.css";
import { inCommon, type Ranked, SHOWN } from "./overlap";

/** How many passages each two methods have in common; nothing until two have finished. */
export function OverlapTable({ names, columns }: { names: readonly string[]; columns: readonly Ranked[] }) {
  const finished = columns.flatMap((ids, at) => (ids ? [{ name: names[at] ?? "", ids }] : []));
  if (finished.length < 2) return null;
  return (
    <div className={styles.scroll}>
      <table className={styles.overlap}>
        <caption>Passages in common, of the first {SHOWN} of each method</caption>
        <thead>
          <tr>
            <td />
            {finished.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {finished.map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.name}</th>
              {finished.map((column) => (
                <td key={column.name} data-own={row === column || undefined}>
                  {inCommon(row.ids, column.ids)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
