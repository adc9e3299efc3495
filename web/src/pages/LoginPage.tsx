// Logging in: with a key, or with the one-time code that `trueweave ui` puts into the address.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useCallback, useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { useNavigate, useSearchParams } from "react-router";
import { Problem } from "../api/client";
import { logIn, loginWays, nextOf } from "../api/session";
import { useTitle } from "../shell/useTitle";
import { Empty, Failed, Loading } from "../ui/States";
import styles from "./LoginPage.module.css";

export function LoginPage() {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const ways = useQuery(loginWays);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const next = nextOf(params);
  useTitle("Log in");

  const enter = useCallback(
    async (by: { key: string } | { code: string }) => {
      setBusy(true);
      setError(null);
      try {
        await logIn(by);
        queries.clear();
        navigate(next, { replace: true });
      } catch (problem) {
        setError(problem);
        setBusy(false);
      }
    },
    [navigate, next, queries],
  );
  useCode(enter);

  return (
    <div className={styles.page}>
      <h1 tabIndex={-1}>Log in to Trueweave</h1>
      {busy && <Loading what="your session" lines={1} />}
      {error !== null && <Failed error={error} isLogin />}
      {ways.isError && <Failed error={ways.error} again={() => ways.refetch()} isLogin />}
      {error === null && params.get("error") && (
        <Failed error={refusedOf(params.get("error") ?? "")} isLogin />
      )}
      {!busy && ways.data?.provider && (
        <p>
          <a className={styles.provider} href={providerAddress(next)}>
            Log in at your identity provider
          </a>
        </p>
      )}
      {!busy && ways.data?.key && <KeyForm onKey={(key) => enter({ key })} />}
      {!busy && ways.data && !ways.data.key && !ways.data.provider && (
        <Empty title="This address cannot be used to log in">
          <p>
            Browsers log in over https. Use the https address of the server, or run <code>trueweave ui</code>{" "}
            on this machine.
          </p>
        </Empty>
      )}
    </div>
  );
}

/** The server leads from here to the identity provider, and from there back to the page that was asked for. */
export const providerAddress = (next: string): string =>
  `/v1/session/login?${new URLSearchParams({ next: `/ui${next}` })}`;

/** Why the identity provider's login failed, by the code that the server adds to the address. */
function refusedOf(code: string): Problem {
  const reasons: Record<string, string> = {
    provider_unavailable: "The identity provider cannot be reached.",
    login_expired: "The login took too long, or was started in another browser.",
  };
  const detail = reasons[code] ?? "The identity provider did not log you in.";
  return new Problem({
    detail,
    code,
    next_step: "Log in again. If that fails, ask the server's administrator.",
  });
}

/** Logs in with the code in the fragment of the address, which is removed from the address first. */
function useCode(enter: (by: { code: string }) => void): void {
  const isTaken = useRef(false);
  useEffect(() => {
    const code = new URLSearchParams(location.hash.slice(1)).get("code");
    if (!code || isTaken.current) return;
    isTaken.current = true; // it is valid once
    history.replaceState(history.state, "", location.pathname + location.search);
    enter({ code });
  }, [enter]);
}

function KeyForm({ onKey }: { onKey: (key: string) => void }) {
  const [key, setKey] = useState("");
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim()) onKey(key.trim());
  };
  return (
    <form className={`card ${styles.form}`} onSubmit={send}>
      {/* Password managers store a key under a name. */}
      <input type="text" name="username" autoComplete="username" value="trueweave" readOnly hidden />
      <label htmlFor="key">Key</label>
      <input
        id="key"
        type="password"
        autoComplete="current-password"
        spellCheck={false}
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <p className="muted">
        <code>trueweave keys create</code> makes one. It is sent to this server once and is not stored in the
        browser.
      </p>
      <Button className="primary" type="submit">
        Log in
      </Button>
    </form>
  );
}
