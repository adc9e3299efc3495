import { ArrowDown, ArrowUp } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import { useFilter } from "../ask/useFilter";
import { relationPath } from "../entity/address";
import { number } from "../text/words";
import styles from "./GraphPage.module.css";
import type { GraphNode, Shown } from "./shown";
import {
  type Column,
  ENTITY_COLUMNS,
  RELATION_COLUMNS,
  type RelationRow,
  relationRows,
  sorted,
  sortedBy,
} from "./tables";

interface Props {
  workspace: string;
  shown: Shown;
  sort: string;
  selected: string;
  onSort: (sort: string) => void;
  onSelect: (id: string) => void;
}

export function EntityTable({ shown, sort, selected, onSort, onSelect }: Props) {
  const cells = (one: GraphNode) => [
    <Button
      key="name"
      className={`quiet ${styles.other}`}
      aria-pressed={one.id === selected}
      onPress={() => onSelect(one.id)}
    >
      <bdi>{one.name}</bdi>
    </Button>,
  ];
  return (
    <Sortable
      caption="Entities"
      rows={shown.nodes}
      columns={ENTITY_COLUMNS}
      sort={sort}
      onSort={onSort}
      cells={cells}
      isSelected={(one) => one.id === selected}
    />
  );
}

export function RelationTable({ workspace, shown, sort, selected, onSort, onSelect }: Props) {
  const { keep } = useFilter();
  const end = (id: string, name: string) => (
    <Button key={id} className={`quiet ${styles.other}`} onPress={() => onSelect(id)}>
      <bdi>{name}</bdi>
    </Button>
  );
  const cells = (one: RelationRow) => [
    end(one.source, one.sourceName),
    <Link key="type" to={keep(relationPath(workspace, one.id))}>
      <bdi>{one.type || "related"}</bdi>
    </Link>,
    end(one.target, one.targetName),
  ];
  return (
    <Sortable
      caption="Relations"
      rows={relationRows(shown.nodes, shown.edges)}
      columns={RELATION_COLUMNS}
      sort={sort}
      onSort={onSort}
      cells={cells}
      isSelected={(one) => selected !== "" && (one.source === selected || one.target === selected)}
    />
  );
}

interface SortableProps<T> {
  caption: string;
  rows: T[];
  columns: Column<T>[];
  sort: string;
  onSort: (sort: string) => void;
  /** The first cells of a row; the others show the value of their column. */
  cells: (row: T) => ReactNode[];
  isSelected: (row: T) => boolean;
}

function Sortable<T extends { id: string }>(props: SortableProps<T>) {
  const { caption, columns, onSort, cells, isSelected } = props;
  const { rows, by, isDown } = sorted(props.rows, columns, props.sort);
  const Arrow = isDown ? ArrowDown : ArrowUp;
  return (
    <table className={styles.table}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th
              key={column.id}
              scope="col"
              aria-sort={column.id === by ? (isDown ? "descending" : "ascending") : "none"}
            >
              <Button className="quiet" onPress={() => onSort(sortedBy(column, rows[0], by, isDown))}>
                {column.title}
                {column.id === by && <Arrow size={14} aria-hidden="true" />}
              </Button>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const first = cells(row);
          return (
            <tr key={row.id} data-selected={isSelected(row) || undefined}>
              {columns.map((column, at) => {
                const value = column.valueOf(row);
                return (
                  <td key={column.id} className={typeof value === "number" ? styles.number : undefined}>
                    {first[at] ?? (typeof value === "number" ? number(value) : <bdi>{value}</bdi>)}
                  </td>
                );
              })}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
