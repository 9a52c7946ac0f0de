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
  const informers = new Map([[IPPolicy.kind, { store }]]);
  expect(accountsUsed([IPPolicy], { accounts: { accountOf: of, most: 3 }, informers })).toEqual([account]);
});

it("looks at no more objects once it has found all accounts", () => {
  const store = new Store<ManagedObject>();
  const metadata = { namespace: "n", generation: 1, resourceVersion: "1" };
  for (const name of ["one", "two", "three", "four"])
    store.put({
      apiVersion: "v1",
      kind: IPPolicy.kind,
      spec: {},
      metadata: { ...metadata, name, uid: name },
      status: { id: name },
    });
  const [own, other] = [{}, {}] as [Account, Account];
  const asked: string[] = [];
  const of = ({ metadata: { name } }: ManagedObject): Account => {
    asked.push(name);
    return name === "three" ? other : own;
  };
  const informers = new Map([[IPPolicy.kind, { store }]]);
  expect(accountsUsed([IPPolicy], { accounts: { accountOf: of, most: 2 }, informers })).toEqual([own, other]);
  expect(asked).toEqual(["one", "two", "three"]);
});
