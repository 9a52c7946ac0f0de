import { Account } from "../account/account.ts";
import { RequestBudget } from "../account/requests/request-budget.ts";
import type { Remote } from "../gateway/resource.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Kind } from "../schema/define.ts";
import { AccountCopy, type AccountSource } from "./account-copy.ts";
import { PassingClock } from "./passing-clock.ts";

export const DEADLINE_MS = 30_000;

/** The account of a reconciler that works on a copy. `undocumented`: operations that the API page does not show are tried. */
export const accountOf = (copy: AccountCopy, clock: Clock, { undocumented }: { undocumented: boolean }): Account =>
  new Account({
    client: copy.asClient(),
    // The source of the copy observes the real budget.
    budget: new RequestBudget({ perMinute: 0, clock }),
    clock,
    undocumented,
    deletesPerMinute: 0,
    signal: new AbortController().signal,
    assertMaySend: () => {},
  });

/** A remote with all its modules, as the reconciler sees it. Undefined: the account has none with this id. */
export function readRemote(source: AccountSource, kind: Kind, id: string): Promise<Remote | undefined> {
  const clock = new PassingClock();
  const account = accountOf(new AccountCopy(source, clock, [kind]), clock, { undocumented: true });
  const request = { lane: "edit", signal: new AbortController().signal } as const;
  return account.remotes(kind).read(id, request, Object.keys(kind.modules));
}
