import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "react-aria-components";
import { useSearchParams } from "react-router";
import { api, dataOf, type Schemas } from "../api/client";
import { budget as budgetQuery } from "../api/queries";
import { quoted } from "../ask/forms";
import { money, number } from "../text/words";
import { SameAs } from "../ui/SameAs";
import { allow } from "../ui/SpendingLimit";
import { Failed, Loading } from "../ui/States";
import styles from "./Settings.module.css";
import { Table } from "./TypesPart";

const DAYS = 30;
const DAY = 86_400_000; // milliseconds

type By = "stage" | "model";

/** What the workspace may spend, and what it has spent on each of the last days. */
export function BudgetPart({ workspace, me }: { workspace: string; me: Schemas["MeBody"] }) {
  const [params, setParams] = useSearchParams();
  const by: By = params.get("by") === "model" ? "model" : "stage";
  const found = useQuery(budgetQuery(workspace));
  const [since] = useState(() =>
    new Date(Math.floor(Date.now() / DAY) * DAY - (DAYS - 1) * DAY).toISOString(),
  );
  const daily = useQuery({
    queryKey: ["spend", workspace, "daily", since, by],
    queryFn: ({ signal }) => {
      const params = { path: { workspace }, query: { since, by } };
      return dataOf(api.GET("/v1/workspaces/{workspace}/spend/daily", { params, signal }));
    },
  });
  if (found.isError) return <Failed error={found.error} again={() => found.refetch()} />;
  if (daily.isError) return <Failed error={daily.error} again={() => daily.refetch()} />;
  if (!found.data || !daily.data) return <Loading what="the spending" lines={6} />;
  const { currency, days } = daily.data;
  const { price, price_cap, tokens, token_cap } = found.data;
  return (
    <>
      <p>
        Spent in all: {money(price, currency)}
        {price_cap !== null && ` of ${money(price_cap, currency)}`}, {number(tokens)}
        {token_cap !== null && ` of ${number(token_cap)}`} tokens.
        {price_cap === null && token_cap === null && " There is no limit."}
      </p>
      {me.scope === "admin" && <Limit workspace={workspace} currency={currency} />}
      <h3>The last {DAYS} days</h3>
      <label className={styles.by}>
        <span>By</span>
        <select
          value={by}
          onChange={(event) => setParams(event.target.value === "model" ? { by: "model" } : {})}
        >
          <option value="stage">stage</option>
          <option value="model">model</option>
        </select>
      </label>
      {days.length === 0 ? (
        <p>Nothing was spent.</p>
      ) : (
        <>
          <Bars since={since} days={days} />
          <Table
            title="Spending by day (UTC)"
            heads={["Day", by === "stage" ? "Stage" : "Model", "Calls", "Tokens in, out", "Price"]}
            rows={[...days]
              .reverse()
              .map((one) => [
                one.day,
                one.name,
                number(one.calls),
                `${number(one.tokens_in)}, ${number(one.tokens_out)}`,
                money(one.price, currency),
              ])}
          />
        </>
      )}
      <div className={styles.buttons}>
        <SameAs
          command={`trueweave receipt --workspace ${quoted(workspace)}`}
          request={`GET /v1/workspaces/${workspace}/spend/daily?${new URLSearchParams({ since, by })}`}
        />
      </div>
    </>
  );
}

/** Tokens of each day as bars; the table beside them has the same as text. */
function Bars({ since, days }: { since: string; days: Schemas["SpentOnDay"][] }) {
  const start = Date.parse(since);
  const totals = Array.from({ length: DAYS }, () => 0);
  for (const one of days) {
    const at = Math.round((Date.parse(one.day) - start) / DAY);
    if (at >= 0 && at < DAYS) totals[at] = (totals[at] ?? 0) + one.tokens_in + one.tokens_out;
  }
  const most = Math.max(...totals, 1);
  return (
    <svg
      className={styles.bars}
      viewBox={`0 0 ${DAYS * 20} 120`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Tokens on each of the last ${DAYS} days; at most ${number(most)} on one day`}
    >
      {totals.map((total, at) => {
        const day = new Date(start + at * DAY).toISOString().slice(0, 10);
        const height = 2 + (total / most) * 112;
        return (
          <rect key={day} x={at * 20 + 3} y={120 - height} width="14" height={height}>
            <title>{`${day}: ${number(total)} tokens`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

function Limit({ workspace, currency }: { workspace: string; currency: string }) {
  const queries = useQueryClient();
  const [unit, setUnit] = useState<"money" | "tokens" | "none">("money");
  const [amount, setAmount] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [said, setSaid] = useState("");
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setError(null);
    setSaid("");
    try {
      if (unit === "none") {
        const params = { path: { workspace } };
        await dataOf(api.PUT("/v1/workspaces/{workspace}/budget", { params, body: {} }));
      } else
        await allow(workspace, unit === "money" ? { price: amount } : { tokens: Math.round(Number(amount)) });
      await queries.invalidateQueries({ queryKey: ["budget", workspace] });
      setSaid(unit === "none" ? "There is no limit now." : "The limit is set.");
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <form onSubmit={save} className={styles.limit}>
      <label>
        <span>From now on, spend at most</span>
        <input
          type="number"
          min="0"
          step={unit === "tokens" ? 1 : "any"}
          required={unit !== "none"}
          disabled={unit === "none"}
          value={unit === "none" ? "" : amount}
          onChange={(event) => setAmount(event.target.value)}
        />
      </label>
      <label>
        <span>Unit</span>
        <select value={unit} onChange={(event) => setUnit(event.target.value as typeof unit)}>
          <option value="money">{currency}</option>
          <option value="tokens">tokens</option>
          <option value="none">no limit</option>
        </select>
      </label>
      <Button type="submit">Set the limit</Button>
      {error !== null && <Failed error={error} />}
      <p role="status" className={said ? styles.said : "visually-hidden"}>
        {said}
      </p>
    </form>
  );
}
