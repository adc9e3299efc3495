// Questions that are asked again when the index has changed.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { Link, useParams } from "react-router";
import { usePast } from "../api/past";
import { me } from "../api/queries";
import { quoted } from "../ask/forms";
import { useTitle } from "../shell/useTitle";
import { counted, moment } from "../text/words";
import { Popup } from "../ui/Popup";
import { SameAs } from "../ui/SameAs";
import { ShowMore } from "../ui/ShowMore";
import { Empty, Failed, Loading } from "../ui/States";
import { alertsPath } from "./address";
import { NewWatchForm } from "./NewWatchForm";
import { removeWatch, type Watch, watchesQuery } from "./queries";
import styles from "./Watches.module.css";
import { WatchParts } from "./WatchParts";

export function WatchesPage() {
  const { ws = "" } = useParams();
  useTitle("Watches", ws);
  const queries = useQueryClient();
  const { data: caller } = useQuery(me);
  const past = usePast(ws);
  const found = useInfiniteQuery(watchesQuery(ws));
  const [removing, setRemoving] = useState<Watch | null>(null);
  const [done, setDone] = useState("");
  const watches = found.data?.pages.flatMap((page) => page.items) ?? [];
  const mayWrite = caller !== undefined && caller.scope !== "read" && !past;
  const changed = (said: string) => {
    setDone(said);
    for (const name of ["watches", "alerts"]) void queries.invalidateQueries({ queryKey: [name, ws] });
  };
  return (
    <div className={styles.page}>
      <header>
        <div className={styles.head}>
          <h1 tabIndex={-1}>Watches</h1>
          <WatchParts workspace={ws} part="watches" />
        </div>
        <p>
          Questions that are asked again whenever the index has changed. There is an alert when a question
          finds other passages than before.
        </p>
        {past && <p className="muted">Watches and alerts are shown as they are now.</p>}
        <div className={styles.same}>
          <SameAs
            command={`trueweave watch list --workspace ${quoted(ws)}`}
            request={`GET /v1/workspaces/${ws}/watches`}
          />
        </div>
      </header>
      {found.data && mayWrite && (
        <NewWatchForm workspace={ws} onAdded={({ name }) => changed(`Added ${name}.`)} />
      )}
      <p role="status" className={styles.done}>
        {done}
      </p>
      {found.isPending && <Loading what="the watches" lines={6} />}
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {found.data && watches.length === 0 && (
        <Empty title="No watch yet">
          <p>
            {mayWrite
              ? "Add a question above. It is asked at once, and Alerts shows what it finds."
              : "A key with the scope write can add one."}
          </p>
        </Empty>
      )}
      {watches.length > 0 && (
        <ul className={styles.list} aria-label="Watches">
          {watches.map((one) => (
            <li key={one.name} className={styles.card}>
              <WatchCard workspace={ws} watch={one} onRemove={mayWrite ? () => setRemoving(one) : null} />
            </li>
          ))}
        </ul>
      )}
      <ShowMore of={found} />
      {removing && (
        <Removal
          workspace={ws}
          watch={removing.name}
          onClose={() => setRemoving(null)}
          onRemoved={() => {
            setRemoving(null);
            changed(`Removed ${removing.name}.`);
          }}
        />
      )}
    </div>
  );
}

interface CardProps {
  workspace: string;
  watch: Watch;
  /** Null if the caller may not remove it. */
  onRemove: (() => void) | null;
}

function WatchCard({ workspace, watch, onRemove }: CardProps) {
  const alerts = counted(watch.alerts, "alert");
  return (
    <>
      <h2>
        <bdi>{watch.name}</bdi>
      </h2>
      <p className={styles.question} dir="auto">
        {watch.question}
      </p>
      <p className={styles.facts}>
        <Link to={alertsPath(workspace, watch.name)} aria-label={`${alerts} of ${watch.name}`}>
          {alerts}
        </Link>
        <span>
          last asked <time dateTime={watch.asked}>{moment(watch.asked)}</time>
        </span>
        <span>
          first {counted(watch.passages, "passage")} of {watch.method || "the default method"}
        </span>
        {watch.answers && <span>with answers</span>}
        {watch.webhook && (
          <span>
            sent to <bdi>{watch.webhook}</bdi>
          </span>
        )}
      </p>
      {watch.problem && <p className={styles.note}>{watch.problem}</p>}
      {onRemove && (
        <Button aria-label={`Remove ${watch.name}`} onPress={onRemove}>
          Remove
        </Button>
      )}
    </>
  );
}

interface RemovalProps {
  workspace: string;
  watch: string;
  onClose: () => void;
  onRemoved: () => void;
}

/** Asks before a watch is removed. */
function Removal({ workspace, watch, onClose, onRemoved }: RemovalProps) {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const remove = async () => {
    setBusy(true);
    setError(null);
    try {
      await removeWatch(workspace, watch);
      onRemoved();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Popup title="Remove this watch?" open onClose={onClose}>
      <p>
        <bdi>{watch}</bdi> is not asked any more, and its alerts are deleted. This cannot be undone.
      </p>
      {error !== null && <Failed error={error} />}
      <div className={styles.buttons}>
        <Button className={styles.danger ?? ""} onPress={remove} isDisabled={isBusy}>
          Remove
        </Button>
        <Button onPress={onClose} autoFocus>
          Cancel
        </Button>
      </div>
    </Popup>
  );
}
