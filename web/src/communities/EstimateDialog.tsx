// Before reports are written: how many, by which model, what it costs, and a limit.
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import type { Schemas } from "../api/client";
import { me as meQuery, spend as spendQuery } from "../api/queries";
import { counted, money, number } from "../text/words";
import { Popup } from "../ui/Popup";
import { allow, type Cap, isFree, SpendingLimit } from "../ui/SpendingLimit";
import { Failed, Loading } from "../ui/States";
import styles from "./Communities.module.css";

type Estimate = Schemas["ReportEstimate"];

interface Props {
  workspace: string;
  title: string;
  estimate: () => Promise<Estimate>;
  /** What the button says for an estimate, and while it acts. */
  label: (estimate: Estimate) => string;
  busy: string;
  act: () => Promise<unknown>;
  onClose: () => void;
  onDone: () => void;
}

export function EstimateDialog({ workspace, title, estimate, label, busy, act, onClose, onDone }: Props) {
  const found = useQuery({
    queryKey: ["report estimate", workspace, title],
    queryFn: estimate,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false, // what was agreed to is what is done
  });
  const { data: caller } = useQuery(meQuery);
  const { data: spent } = useQuery(spendQuery(workspace));
  const [cap, setCap] = useState<Cap>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const currency = spent?.currency ?? "USD";
  const go = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      if (cap) await allow(workspace, cap);
      await act();
      onDone();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Popup title={title} open onClose={onClose}>
      {found.isPending && <Loading what="the estimate" />}
      {found.isError && <Failed error={found.error} again={() => found.refetch()} />}
      {found.data && (
        <form onSubmit={go}>
          <Costs estimate={found.data} currency={currency} />
          {found.data.calls > 0 && (
            <SpendingLimit
              workspace={workspace}
              estimate={found.data}
              currency={currency}
              isAdmin={caller?.scope === "admin"}
              cap={cap}
              onChange={setCap}
            />
          )}
          {error !== null && <Failed error={error} />}
          <div className={styles.buttons}>
            {found.data.reports > 0 && (
              <Button type="submit" className="primary" isDisabled={isBusy}>
                {isBusy ? busy : label(found.data)}
              </Button>
            )}
            <Button onPress={onClose}>{isBusy || found.data.reports === 0 ? "Close" : "Cancel"}</Button>
          </div>
        </form>
      )}
    </Popup>
  );
}

function Costs({ estimate, currency }: { estimate: Estimate; currency: string }) {
  const { reports, current, model, calls, answered, tokens_in, most_tokens_out, most_price } = estimate;
  if (reports === 0)
    return <p>All {counted(current, "report")} are up to date: there is nothing to write.</p>;
  if (!model) {
    return (
      <p>
        No language model is set, so nothing is spent:{" "}
        {reports === 1 ? "the report consists" : "reports consist"} of names and sentences selected from the
        documents. The server's administrator sets a model in <code>trueweave.toml</code>.
      </p>
    );
  }
  return (
    <>
      <p>
        {counted(reports, "report")} written by <code>{model}</code>: {counted(calls, "call")},{" "}
        {number(tokens_in)} tokens in, at most {number(most_tokens_out)} out.
        {answered > 0 &&
          ` ${counted(answered, "report has", "reports have")} a stored reply, and cost nothing.`}
      </p>
      <p className={styles.price}>
        {most_price === null
          ? "What this costs is not known: the server has no price for this model."
          : isFree(most_price)
            ? "This costs nothing."
            : `At most ${money(most_price, currency)}.`}
      </p>
    </>
  );
}
