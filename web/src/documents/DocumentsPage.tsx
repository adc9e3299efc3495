// The Documents view: what is in the workspace and in which state, adding files, progress, failures, switching off, deleting.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { FilePlus2, FolderPlus } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Button } from "react-aria-components";
import { useParams, useSearchParams } from "react-router";
import { api, dataOf } from "../api/client";
import { me as meQuery, workspace as workspaceQuery } from "../api/queries";
import { useActivity } from "../api/useActivity";
import { useShortcuts } from "../shell/shortcuts";
import { useTitle } from "../shell/useTitle";
import { IN_PLACE } from "../shell/views";
import { counted } from "../text/words";
import { SameAs } from "../ui/SameAs";
import { ShowMore } from "../ui/ShowMore";
import { Empty, Failed, Loading } from "../ui/States";
import { ActivityLine } from "./ActivityLine";
import {
  commandOf,
  isFiltered,
  type ListState,
  queryOf,
  readAddress,
  requestOf,
  writeAddress,
} from "./address";
import { DeleteDialog } from "./DeleteDialog";
import styles from "./DocumentsPage.module.css";
import { DocumentTable } from "./DocumentTable";
import { EstimateDialog } from "./EstimateDialog";
import { Filters } from "./Filters";
import { ACCEPTED, type NamedFile, named } from "./files";
import { switchDocuments } from "./switching";
import { UploadPanel } from "./UploadPanel";
import { uploadTo } from "./uploads";
import { useFileDrop } from "./useFileDrop";

const PAGE = 50;
const CHANGING = ["documents", "workspace", "spend"]; // what is read again when the index changes

function useDocuments(workspace: string, list: ListState) {
  return useInfiniteQuery({
    queryKey: ["documents", workspace, list],
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...queryOf(list), limit: PAGE, cursor: pageParam, total: pageParam === "" };
      const params = { path: { workspace }, query };
      return dataOf(api.GET("/v1/workspaces/{workspace}/documents", { params, signal }));
    },
    getNextPageParam: (last) => last.next ?? null,
    placeholderData: (before) => before, // the list stays while a filter is typed
  });
}

export function DocumentsPage() {
  const { ws = "" } = useParams();
  // Another workspace has other files, selections and dialogs.
  return <DocumentsView key={ws} workspace={ws} />;
}

function DocumentsView({ workspace }: { workspace: string }) {
  const [params, setParams] = useSearchParams();
  const list = readAddress(params);
  const queries = useQueryClient();
  const { data: caller } = useQuery(meQuery);
  const about = useQuery(workspaceQuery(workspace));
  const found = useDocuments(workspace, list);
  const heard = useActivity(workspace, CHANGING);
  const upload = uploadTo(workspace);
  const sending = useSyncExternalStore(upload.subscribe, upload.state);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [deleting, setDeleting] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [said, setSaid] = useState("");
  const inputs = { files: useRef<HTMLInputElement>(null), folder: useRef<HTMLInputElement>(null) };
  useTitle("Documents", workspace);

  const rows = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  const total = found.data?.pages[0]?.total ?? rows.length;
  const mayWrite = caller !== undefined && caller.scope !== "read";
  const mostBytes = about.data?.max_upload_bytes;
  const mayAdd = mayWrite && mostBytes !== undefined && sending.phase !== "sending";
  // Somebody else may have removed documents that were selected.
  const chosen = rows.filter((one) => selected.has(one.uri));
  const failed = chosen.filter((one) => one.state === "failed");
  const on = chosen.filter((one) => one.state !== "off");
  const way = chosen.length > 0 && on.length === 0 ? "on" : "off";

  const go = (to: Partial<ListState>) => setParams(writeAddress({ ...list, ...to }), IN_PLACE);
  const choose = useCallback(
    (files: NamedFile[]) => mostBytes !== undefined && upload.choose(files, mostBytes),
    [upload, mostBytes],
  );
  const refresh = useCallback(
    () => queries.invalidateQueries({ queryKey: ["documents", workspace] }),
    [queries, workspace],
  );
  const isAdded = sending.phase === "done" && sending.taken.new > 0;
  const [hasAdded, setHasAdded] = useState(isAdded);
  useEffect(() => {
    if (isAdded) setHasAdded(true); // also after other files have been chosen
  }, [isAdded]);
  const isSent = sending.taken.new > 0 ? sending.done : 0;
  useEffect(() => {
    if (isSent > 0) refresh();
  }, [isSent, refresh]);
  const retry = async (uris: string[]) => {
    setFailure(null);
    try {
      const params = { path: { workspace } };
      const path = "/v1/workspaces/{workspace}/documents/retry";
      const { retried } = await dataOf(api.POST(path, { params, body: { uris } }));
      setSaid(
        retried
          ? `${counted(retried, "document")} queued again.`
          : "These documents no longer wait for a retry.",
      );
      setSelected(new Set());
    } catch (error) {
      setFailure(error);
    }
    refresh();
  };

  const turn = async () => {
    setFailure(null);
    try {
      const uris = (way === "off" ? on : chosen).map((one) => one.uri);
      const switched = await switchDocuments(workspace, uris, way);
      setSaid(`${counted(switched, "document")} switched ${way}.`);
      setSelected(new Set());
    } catch (error) {
      setFailure(error);
    }
    refresh();
  };

  const isOver = useFileDrop(choose, mayAdd);
  useShortcuts(
    mayWrite
      ? {
          ...(mayAdd ? { a: () => inputs.files.current?.click() } : {}),
          ...(chosen.length > 0 ? { Delete: () => setDeleting(true) } : {}),
          ...(failed.length > 0 ? { r: () => retry(failed.map((one) => one.uri)) } : {}),
          ...(chosen.length > 0 ? { Escape: () => setSelected(new Set()) } : {}),
        }
      : {},
  );

  if (about.isError) return <Failed error={about.error} again={() => about.refetch()} />;
  const isEmpty = found.data !== undefined && rows.length === 0;
  const isNew = isEmpty && !isFiltered(list);
  return (
    <div className={styles.page}>
      <div className={styles.head}>
        <h1 tabIndex={-1}>Documents</h1>
        {mayWrite && !isNew && (
          <AddButtons isDisabled={!mayAdd} inputs={inputs} isPrimary={sending.phase === "idle"} />
        )}
      </div>
      {mayWrite && mostBytes !== undefined && <FileInputs inputs={inputs} onFiles={choose} />}
      <UploadPanel upload={upload} state={sending} />
      <ActivityLine
        workspace={workspace}
        heard={heard}
        hasAdded={hasAdded}
        onRetry={mayWrite ? () => retry([]) : null}
        onShowFailed={() => go({ state: "failed" })}
      />
      {failure !== null && <Failed error={failure} />}
      <p className="visually-hidden" role="status">
        {said}
      </p>
      {isNew ? (
        <Empty title="There are no documents here yet">
          {mayWrite ? (
            <>
              <p>
                Drop files or folders anywhere on this page: {ACCEPTED}. Before anything is sent to a model,
                you see what it would cost.
              </p>
              <AddButtons isDisabled={!mayAdd} inputs={inputs} isPrimary />
              <p className="muted">
                From a terminal: <code>trueweave add PATH --workspace {workspace}</code>
              </p>
            </>
          ) : (
            <p>Your key may only read. Ask the server's administrator to add documents.</p>
          )}
        </Empty>
      ) : (
        <>
          <Filters list={list} onChange={go} />
          {found.isPending && <Loading what="the documents" lines={8} />}
          {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
          {isEmpty && (
            <Empty title="No document matches these filters">
              <Button onPress={() => go({ prefix: "", state: "", since: "" })}>Show all documents</Button>
            </Empty>
          )}
          {rows.length > 0 && (
            <>
              <div className={styles.summary}>
                <p>
                  {counted(total, "document")}
                  {chosen.length > 0 && `, ${chosen.length} selected`}
                </p>
                <SameAs command={commandOf(workspace, list)} request={requestOf(workspace, list)} />
                {mayWrite && (
                  <>
                    <Button
                      isDisabled={failed.length === 0}
                      onPress={() => retry(failed.map((one) => one.uri))}
                    >
                      Retry
                    </Button>
                    <Button isDisabled={chosen.length === 0} onPress={turn}>
                      Switch {way}
                    </Button>
                    <Button isDisabled={chosen.length === 0} onPress={() => setDeleting(true)}>
                      Delete
                    </Button>
                  </>
                )}
              </div>
              <DocumentTable
                workspace={workspace}
                rows={rows}
                selected={selected}
                onSelect={mayWrite ? setSelected : null}
                onRetry={mayWrite ? (uri) => retry([uri]) : null}
              />
            </>
          )}
          <ShowMore of={found} />
        </>
      )}
      {isOver && (
        <div className={styles.over} aria-hidden="true">
          <p>Drop the files to add them to {workspace}</p>
        </div>
      )}
      <EstimateDialog
        upload={upload}
        state={sending}
        workspace={workspace}
        isAdmin={caller?.scope === "admin"}
      />
      {deleting && (
        <DeleteDialog
          workspace={workspace}
          documents={chosen}
          onClose={() => setDeleting(false)}
          onDeleted={(text) => {
            setDeleting(false);
            setSelected(new Set());
            setSaid(text);
            refresh();
          }}
        />
      )}
    </div>
  );
}

interface Inputs {
  files: React.RefObject<HTMLInputElement | null>;
  folder: React.RefObject<HTMLInputElement | null>;
}

function AddButtons({
  isDisabled,
  inputs,
  isPrimary,
}: {
  isDisabled: boolean;
  inputs: Inputs;
  isPrimary: boolean;
}) {
  return (
    <div className={styles.add}>
      <Button
        className={isPrimary ? "primary" : ""}
        isDisabled={isDisabled}
        onPress={() => inputs.files.current?.click()}
      >
        <FilePlus2 size={18} aria-hidden="true" /> Add files
      </Button>
      <Button isDisabled={isDisabled} onPress={() => inputs.folder.current?.click()}>
        <FolderPlus size={18} aria-hidden="true" /> Add a folder
      </Button>
    </div>
  );
}

/** The browser's own file choosers, which the buttons open. */
function FileInputs({ inputs, onFiles }: { inputs: Inputs; onFiles: (files: NamedFile[]) => void }) {
  useEffect(() => {
    if (inputs.folder.current) inputs.folder.current.webkitdirectory = true; // React does not know the attribute
  }, [inputs]);
  const take = (event: React.ChangeEvent<HTMLInputElement>) => {
    onFiles(named(event.target.files ?? []));
    event.target.value = ""; // so that the same files can be chosen again
  };
  return (
    <>
      <input ref={inputs.files} type="file" multiple hidden aria-label="Files to add" onChange={take} />
      <input ref={inputs.folder} type="file" hidden aria-label="Folder to add" onChange={take} />
    </>
  );
}
