import { Button } from "react-aria-components";
import { Link, useLocation } from "react-router";
import { asProblem } from "../api/client";
import { loginPath } from "../api/session";
import { counted, number } from "../text/words";
import { Failed } from "../ui/States";
import styles from "./DocumentsPage.module.css";
import type { Taken, Told, Upload, UploadState } from "./uploads";

interface Props {
  upload: Upload;
  state: UploadState;
}

/** Files that are being sent, and what became of them. It stays until it is closed. */
export function UploadPanel({ upload, state }: Props) {
  const { phase, files, done, taken, told, error } = state;
  if (phase !== "sending" && phase !== "stopped" && phase !== "done") return null;
  return (
    <section className={`card ${styles.upload}`} aria-label="Upload">
      <div className={styles.uploadHead}>
        <p role="status">
          {phase === "sending" && `Sending files: ${number(done)} of ${number(files.length)} done.`}
          {phase === "stopped" &&
            `${number(done)} of ${counted(files.length, "file")} sent. The others are still to be sent.`}
          {phase === "done" && `${sentence(taken)}.`}
        </p>
        {phase === "sending" && <Button onPress={() => upload.stop()}>Stop</Button>}
        {phase === "stopped" && (
          <Button className="primary" onPress={() => upload.resume()}>
            Send the rest
          </Button>
        )}
        {phase !== "sending" && (
          <Button className="quiet" onPress={() => upload.clear()}>
            {phase === "stopped" ? "Forget the rest" : "Close"}
          </Button>
        )}
      </div>
      {phase === "sending" && (
        <progress className={styles.progress} value={done} max={files.length} aria-label="Files sent" />
      )}
      {error !== null && <Interrupted error={error} />}
      <NotUsed told={told} />
    </section>
  );
}

/** Why sending was interrupted. To log in again, the page must not be loaded anew: that would forget the files. */
function Interrupted({ error }: { error: unknown }) {
  const { pathname, search } = useLocation();
  if (asProblem(error).status !== 401) return <Failed error={error} />;
  return (
    <p role="alert">
      Your session has ended. <Link to={loginPath(pathname + search)}>Log in</Link>, then send the rest: the
      files are kept until this page is closed.
    </p>
  );
}

/** What became of the files: "18 documents added, 2 unchanged". */
export function sentence(taken: Taken): string {
  const parts = [
    (taken.new > 0 || taken.unchanged === 0) && `${counted(taken.new, "document")} added`,
    taken.unchanged > 0 &&
      (taken.new > 0
        ? `${number(taken.unchanged)} unchanged`
        : `${counted(taken.unchanged, "document")} unchanged`),
    taken.unreadable > 0 && `${counted(taken.unreadable, "file")} could not be read`,
    taken.refused > 0 && `${counted(taken.refused, "document")} refused`,
    taken.skipped > 0 && `${counted(taken.skipped, "file")} skipped`,
  ];
  return parts.filter(Boolean).join(", ");
}

/** Files that were not used, each with the reason. */
export function NotUsed({ told }: { told: Told[] }) {
  if (told.length === 0) return null;
  return (
    <ul className={styles.told} aria-label="Not used">
      {told.map((one) => (
        <li key={`${one.place} ${one.reason}`}>
          {!one.reason.includes(one.place) && (
            <>
              <bdi>{one.place}</bdi>:{" "}
            </>
          )}
          {one.reason}
        </li>
      ))}
    </ul>
  );
}
