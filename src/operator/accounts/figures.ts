import type { Account } from "../../account/account.ts";
import { reconcileErrorOf } from "../../objects/map-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Reason } from "../../schema/contract.ts";
import type { AccountFigures } from "../kubernetes/account-figures.ts";
import type { SharedAccount } from "./credentials.ts";

/** The most accounts that a Lease lists. The list is short, because the Lease is written every two seconds. */
const MOST = 20;

/** Facts about the accounts with the most requests: names of objects, numbers, times and reasons. Never a key. */
export function figuresOf(all: readonly SharedAccount[], requestsPerMinute: number, clock: Clock): AccountFigures {
  const accounts = all
    .flatMap(({ account, requests: { lastMinute: requests }, credentials }) => {
      const problem = problemOf(account);
      const { listedAt } = account;
      const listed = listedAt !== undefined && new Date(clock.date().getTime() - (clock.now() - listedAt));
      const { pauseEnd, waiting } = account.turns.budget;
      const pause = pauseEnd?.toISOString();
      const rest = {
        requests,
        ...(pause && { pausedUntil: pause }),
        ...(waiting > 0 && { waiting }),
        ...(listed && { listed: listed.toISOString() }),
        ...(problem && { problem }),
      };
      return [...credentials].map(({ key: name }) => ({ name, ...rest }));
    })
    .sort((one, other) => other.requests - one.requests || (one.name < other.name ? -1 : 1));
  return { requestsPerMinute, accounts: accounts.slice(0, MOST) };
}

/** The reason that a condition of its GatewayAccounts has, or will have. */
function problemOf({ breaker, keyProof, lossGuard, listFailures }: Account): Reason | undefined {
  if (lossGuard.problem) return "AccountMismatch";
  const unanswered = breaker.problem && reconcileErrorOf(breaker.problem)?.reason;
  return keyProof.problem?.reason ?? unanswered ?? listFailures.problem?.reason;
}
