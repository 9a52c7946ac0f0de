import { expect, it, test } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { accountOf, membersOf, namespacesWithDefault } from "./accounts.ts";

const made = (name: string, namespace: string) => ({ metadata: { name, namespace } });
const defaults = namespacesWithDefault([made("default", "team-a"), made("other", "team-b")] as never);

const object = (namespace: string, accountRef?: string, status?: { id: string; account?: string }) =>
  ({
    metadata: { namespace, name: "some" },
    spec: accountRef ? { accountRef: { name: accountRef } } : {},
    status,
  }) as unknown as ManagedObject;

it.each([
  ["without a remote, where there is a GatewayAccount `default`", object("team-a"), "default"],
  ["without a remote, where there is none", object("team-b"), ""],
  ["that names another account", object("team-a", "other"), "other"],
  ["with a remote in the operator's own account", object("team-a", undefined, { id: "ipp_1" }), ""],
  ["with a remote in another account", object("team-b", undefined, { id: "ipp_1", account: "other" }), "other"],
])("the account of an object %s", (_, one, account) => {
  expect(accountOf(one, defaults)).toBe(account);
});

const own = "";
const ofTeam = "team-a/default";
const sharersOf = (names: readonly string[], areGiven = false) => ({ names: new Set(names), areGiven });

it.each([
  ["the operator's own account has no object of a namespace with a GatewayAccount `default`", own, "team-a", false],
  ["the operator's own account has the objects of a namespace without one", own, "team-b", true],
  ["a GatewayAccount `default` has the objects of its namespace", ofTeam, "team-a", true],
  ["a GatewayAccount `default` has no object of another namespace", ofTeam, "team-b", false],
])("%s", (_, name, namespace, isInAccount) => {
  const known = { sharers: sharersOf([name]), objects: new Map(), remotes: new Map(), defaults };
  expect(membersOf(known)(object(namespace))).toBe(isInAccount);
});

test.each([
  ["by its GatewayAccount, that of another with the same key as well", [ofTeam], false, ["team-a", "team-b"]],
  ["by the operator's own credentials, those too", [own], false, ["own", "team-a", "team-b"]],
  ["by flags, those that have something in it", [], true, ["team-a", "team-b"]],
  ["by a key, those whose GatewayAccounts have it", ["team-c/default"], true, ["team-a", "team-b", "team-c"]],
])("the objects of an account that is named %s", (_, names, areGiven, namespaces) => {
  const having = (namespace: string, account: string | undefined, id: string) =>
    object(namespace, undefined, { id, ...(account && { account }) });
  const all = [
    ...[having("own", undefined, "ipp_own"), having("team-a", "default", "ipp_a"), having("team-b", "other", "ipp_b")],
    having("team-c", "default", "ipp_c"),
  ];
  const rows = [{ id: "ipp_a" }, { id: "ipp_b" }];
  const read = { objects: new Map([[IPPolicy, all]]), remotes: new Map([[IPPolicy, rows]]), defaults };
  const isMember = membersOf({ sharers: sharersOf(names, areGiven), ...read } as never);
  expect(all.filter(isMember).map(({ metadata }) => metadata.namespace)).toEqual(namespaces);
});
