// How much more a workspace may spend on models, as part of a dialog that shows an estimate.
import { useQuery } from "@tanstack/react-query";
import { api, dataOf } from "../api/client";
import { budget as budgetQuery } from "../api/queries";
import { money, number } from "../text/words";
import styles from "./SpendingLimit.module.css";

/** How much more the workspace may spend; null leaves its budget as it is. */
export type Cap = { price: string } | { tokens: number } | null;

/** The parts of an estimate that a limit is for. Prices are null if they are not known. */
interface Costs {
  tokens_in: number;
  most_tokens_out: number;
  most_price: string | null;
}

interface Props {
  workspace: string;
  estimate: Costs;
  currency: string;
  isAdmin: boolean;
  cap: Cap;
  onChange: (to: Cap) => void;
}

/** How much more the workspace may spend. Only its administrators may change that. */
export function SpendingLimit({ workspace, estimate, currency, isAdmin, cap, onChange }: Props) {
  const { data: budget } = useQuery(budgetQuery(workspace));
  if (!budget) return null;
  const priced = estimate.most_price !== null && !isFree(estimate.most_price);
  const left = [
    budget.price_cap !== null && money(String(Number(budget.price_cap) - Number(budget.price)), currency),
    budget.token_cap !== null && `${number(budget.token_cap - budget.tokens)} tokens`,
  ].filter(Boolean);
  const now = left.length > 0 ? `it may spend ${left.join(" and ")} more` : "it has no limit";
  if (!isAdmin) return <p>The budget of the workspace: {now}. When it is used up, processing pauses.</p>;
  const most = estimate.tokens_in + estimate.most_tokens_out;
  const start: Cap = priced ? { price: atLeast(estimate.most_price ?? "0") } : { tokens: most };
  return (
    <fieldset className={styles.cap}>
      <legend>Limit</legend>
      <label>
        <input type="radio" name="cap" checked={cap === null} onChange={() => onChange(null)} />
        Leave the budget of the workspace as it is: {now}
      </label>
      <label>
        <input type="radio" name="cap" checked={cap !== null} onChange={() => onChange(start)} />
        From now on, spend at most
        <input
          type="number"
          aria-label={priced ? `At most, in ${currency}` : "At most, in tokens"}
          min="0"
          step="any"
          required={cap !== null}
          disabled={cap === null}
          value={cap === null ? amountOf(start) : amountOf(cap)}
          onChange={({ target }) =>
            onChange(priced ? { price: target.value } : { tokens: Math.round(Number(target.value)) })
          }
        />
        {priced ? currency : "tokens"}
      </label>
      <p className="muted">
        The limit holds for all that this workspace does with models, also for questions. When it is reached,
        processing pauses, and nothing is lost.
      </p>
    </fieldset>
  );
}

const amountOf = (cap: NonNullable<Cap>): string => ("price" in cap ? cap.price : String(cap.tokens));

export const isFree = (price: string | null): boolean => price !== null && Number(price) === 0;

/** Lets a workspace spend this much from now on. */
export function allow(workspace: string, cap: NonNullable<Cap>): Promise<unknown> {
  const params = { path: { workspace } };
  return dataOf(api.PUT("/v1/workspaces/{workspace}/budget", { params, body: cap }));
}

/** An amount that covers a price, with two digits: 0.8031 becomes 0.81. */
export function atLeast(price: string): string {
  const value = Number(price);
  if (value <= 0) return "0.01";
  const step = 10 ** (Math.floor(Math.log10(value)) - 1);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  return (Math.ceil(Number((value / step).toFixed(6))) * step).toFixed(digits);
}
