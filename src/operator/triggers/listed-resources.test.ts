import { expect, it } from "vitest";
import type { Account } from "../../account/account.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Waiting } from "../../objects/reconcile-error.ts";
import { Store } from "../../runtime/cache/store.ts";
import { accountsUsed } from "./listed-resources.ts";

it("finds the accounts of objects with a remote, also when another object's account cannot be found", () => {
  const store = new Store<ManagedObject>();
  const named = (name: string, id?: string) =>
    store.put({
      apiVersion: "v1",
      kind: IPPolicy.kind,
      spec: {},
      metadata: { name, namespace: "n", uid: name, generation: 1, resourceVersion: "1" },
      ...(id && { status: { id } }),
    });
  for (const name of ["good", "waiting", "broken"]) named(name, name);
  named("without remote");
  const account = {} as Account;
  const of = ({ metadata: { name } }: ManagedObject): Account => {
    if (name === "waiting") throw new Waiting("AccountNotReady", "Create it");
    if (name === "broken") throw new TypeError("a fault in the program");
    return account;
  };
  expect(
    accountsUsed([IPPolicy], { accounts: { accountOf: of }, informers: new Map([[IPPolicy.kind, { store }]]) }),
  ).toEqual([account]);
});
