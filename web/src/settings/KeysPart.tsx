import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import { api, dataOf, type Schemas } from "../api/client";
import { moment } from "../text/words";
import { CopyButton } from "../ui/CopyButton";
import { Popup } from "../ui/Popup";
import { SameAs } from "../ui/SameAs";
import { Failed, Loading } from "../ui/States";
import styles from "./Settings.module.css";
import { Table } from "./TypesPart";

type Key = Schemas["KeyBody"];
type Scope = Key["scope"];

const PAGE = 50;
const KEYS = ["keys"];

/** The keys that the caller may manage: listed, made, revoked. */
export function KeysPart({ workspace, me }: { workspace: string; me: Schemas["MeBody"] }) {
  const queries = useQueryClient();
  const found = useInfiniteQuery({
    queryKey: KEYS,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const params = { query: { limit: PAGE, cursor: pageParam } };
      return dataOf(api.GET("/v1/keys", { params, signal }));
    },
    getNextPageParam: (last) => last.next ?? null,
  });
  const [revoking, setRevoking] = useState<Key | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: KEYS });
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (!found.data) return <Loading what="the keys" lines={6} />;
  const rows = found.data.pages.flatMap((page) => page.items);
  return (
    <>
      <NewKey workspace={workspace} all={me.all_workspaces} onMade={refresh} />
      <h3>Keys</h3>
      <Table
        title="Keys, in the order in which they were made"
        heads={["Name", "Begins with", "Scope", "Workspaces", "Reads as", "Made", "Last used", "State"]}
        rows={rows.map((one) => [
          one.name,
          <code key="prefix">{one.prefix}</code>,
          one.scope,
          one.workspaces === null ? "all" : one.workspaces.join(", "),
          readsAs(one.groups),
          moment(one.created),
          one.last_used ?? "never",
          isValid(one) ? (
            <Button
              key="revoke"
              className={styles.small ?? ""}
              aria-label={`Revoke ${one.name}`}
              onPress={() => setRevoking(one)}
            >
              Revoke
            </Button>
          ) : one.revoked ? (
            `revoked ${moment(one.revoked)}`
          ) : (
            "expired"
          ),
        ])}
      />
      {found.hasNextPage && (
        <Button onPress={() => found.fetchNextPage()} isDisabled={found.isFetchingNextPage}>
          Show more
        </Button>
      )}
      <div className={styles.buttons}>
        <SameAs command="trueweave keys list" request="GET /v1/keys" />
      </div>
      {revoking && (
        <Revoke
          of={revoking}
          isOwn={me.caller === revoking.prefix}
          onClose={() => setRevoking(null)}
          onDone={() => {
            setRevoking(null);
            refresh();
          }}
        />
      )}
    </>
  );
}

/** The groups of a key in words. */
export function readsAs(groups: readonly string[]): string {
  return groups.includes("*") ? "all documents" : groups.join(", ") || "no group";
}

const isValid = (key: Key): boolean => !key.revoked && (!key.expires || Date.parse(key.expires) > Date.now());

interface RevokeProps {
  of: Key;
  isOwn: boolean;
  onClose: () => void;
  onDone: () => void;
}

function Revoke({ of, isOwn, onClose, onDone }: RevokeProps) {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const revoke = async () => {
    setBusy(true);
    setError(null);
    try {
      await dataOf(api.DELETE("/v1/keys/{prefix}", { params: { path: { prefix: of.prefix } } }));
      onDone();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Popup title="Revoke this key?" open onClose={onClose}>
      <p>
        <bdi>{of.name}</bdi> (<code>{of.prefix}</code>) is refused from now on, and browsers that logged in
        with it are logged out within seconds. This cannot be undone: to give access again, make another key.
      </p>
      {isOwn && <p className={styles.note}>You are logged in with this key: your session ends, too.</p>}
      {error !== null && <Failed error={error} />}
      <div className={styles.buttons}>
        <Button className={styles.danger ?? ""} onPress={revoke} isDisabled={isBusy}>
          Revoke
        </Button>
        <Button onPress={onClose} autoFocus>
          Cancel
        </Button>
      </div>
    </Popup>
  );
}

interface NewKeyProps {
  workspace: string;
  /** Whether the caller may make keys for all workspaces. */
  all: boolean;
  onMade: () => void;
}

/** Makes a key. Its secret is shown once, and kept nowhere. */
function NewKey({ workspace, all, onMade }: NewKeyProps) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("read");
  const [isForAll, setForAll] = useState(false);
  const [groups, setGroups] = useState("");
  const [days, setDays] = useState("");
  const [secret, setSecret] = useState("");
  const [error, setError] = useState<unknown>(null);
  const make = async (event: FormEvent) => {
    event.preventDefault();
    setError(null);
    try {
      const body = {
        name,
        scope,
        workspaces: isForAll ? null : [workspace],
        groups: groups
          .split(",")
          .map((group) => group.trim())
          .filter(Boolean),
        expires_in_days: days ? Number(days) : null,
      };
      setSecret((await dataOf(api.POST("/v1/keys", { body }))).key);
      setName("");
      onMade();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <form onSubmit={make} className={styles.limit} aria-label="Make a key">
      <label>
        <span>Name of the new key</span>
        <input required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        <span>Scope</span>
        <select value={scope} onChange={(event) => setScope(event.target.value as Scope)}>
          <option value="read">read</option>
          <option value="write">write</option>
          <option value="admin">admin</option>
        </select>
      </label>
      {all && (
        <label>
          <span>For</span>
          <select
            value={isForAll ? "all" : "one"}
            onChange={(event) => setForAll(event.target.value === "all")}
          >
            <option value="one">this workspace</option>
            <option value="all">all workspaces</option>
          </select>
        </label>
      )}
      <label>
        <span>Groups that it reads as (* reads all documents)</span>
        <input
          placeholder="legal, hr"
          maxLength={2000}
          value={groups}
          onChange={(event) => setGroups(event.target.value)}
        />
      </label>
      <label>
        <span>Days until it expires</span>
        <input
          type="number"
          min="1"
          max="3650"
          placeholder="never"
          value={days}
          onChange={(event) => setDays(event.target.value)}
        />
      </label>
      <Button type="submit" className="primary">
        Make a key
      </Button>
      {error !== null && <Failed error={error} />}
      <Popup title="The new key" open={secret !== ""} onClose={() => setSecret("")}>
        <p>Copy it now: it is shown this once, and the server stores only a hash of it.</p>
        <pre>{secret}</pre>
        <CopyButton label="Copy the key" text={secret} />
      </Popup>
    </form>
  );
}
