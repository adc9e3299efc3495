import { ListFilter } from "lucide-react";
import { useId, useState } from "react";
import { Button } from "react-aria-components";
import form from "./AskForm.module.css";
import { FilterChips, FilterField } from "./DocumentFilter";
import styles from "./FilterBar.module.css";
import type { Passing } from "./useFilter";

/** Says which documents a view is made from, and limits it to others. */
export function FilterBar({ passing }: { passing: Passing }) {
  const { filter, text, change } = passing;
  const [open, setOpen] = useState(false);
  const panel = useId();
  return (
    <section className={styles.bar} aria-label="Filter" data-on={text !== "" || undefined}>
      <div className={`${form.chips} ${styles.line}`}>
        <Button
          className={form.options ?? ""}
          aria-expanded={open}
          aria-controls={panel}
          onPress={() => setOpen(!open)}
        >
          <ListFilter size={14} aria-hidden="true" /> Filter
        </Button>
        {text && <p role="status">Only documents that pass the filter</p>}
        <FilterChips filter={filter} onChange={change} />
        {text && (
          <Button className="quiet" onPress={() => change({})}>
            Clear the filter
          </Button>
        )}
      </div>
      {open && (
        <div id={panel} className={`card ${styles.panel}`}>
          <FilterField filter={filter} onChange={change} />
        </div>
      )}
    </section>
  );
}
