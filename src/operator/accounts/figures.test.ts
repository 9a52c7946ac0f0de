import { expect, test } from "vitest";
import { AccountScene, OWN_KEY } from "../../../test/fakes/operator/account-scene.ts";
import type { Account } from "../../account/account.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { figuresAnnotation, figuresOn } from "../kubernetes/account-figures.ts";

const list = (account: Account, since = 0) =>
  account.collection(ipPolicies).listed(since, { lane: "edit", signal: new AbortController().signal });

test("an account shows its requests, its latest list, and why requests are stopped", async () => {
  const scene = await AccountScene.begin({ env: { REQUESTS_PER_MINUTE: "100" } });
  const { own } = scene.accounts;
  expect(scene.accounts.figures).toEqual({ requestsPerMinute: 100, accounts: [{ name: "", requests: 0 }] });

  await list(own);
  const listed = scene.clock.date().toISOString();
  expect(scene.accounts.figures.accounts).toEqual([{ name: "", requests: 1, listed }]);

  await scene.clock.advance(61_000);
  expect(scene.accounts.figures.accounts).toEqual([{ name: "", requests: 0, listed }]);

  scene.accepted.delete(OWN_KEY);
  await expect(list(own, scene.clock.now())).rejects.toThrow();
  // Another route is asked before the key counts as refused.
  await expect(own.breaker.ready()).rejects.toThrow();
  expect(scene.accounts.figures.accounts).toEqual([
    { name: "", requests: expect.any(Number), listed, problem: "Unauthorized" },
  ]);

  // A mistake of the program that ends a probe is no answer of the service.
  await scene.clock.advance(2000);
  own.breaker.beginProbe();
  const cause = new TypeError("connect is not a function");
  own.breaker.failed(new GatewayError({ kind: "unsent", method: "GET", route: "/", problem: "no", cause }));
  expect(scene.accounts.figures.accounts[0]?.problem).toBe("Unauthorized");
});

test("of many accounts, the busiest are shown, and no key", async () => {
  const scene = await AccountScene.begin();
  for (let index = 0; index < 25; index += 1) {
    const key = `key-of-${index}`;
    scene.accepted.add(key);
    scene.secret(`a${index}`, { key });
    scene.account(`a${index}`);
    await scene.accounts.open(`n/a${index}`, {});
  }
  await list(await scene.accounts.open("n/a24", {}));
  const { accounts } = scene.accounts.figures;
  expect(accounts).toHaveLength(20);
  expect(accounts[0]).toMatchObject({ name: "n/a24", requests: 1 });
  const annotation = figuresAnnotation(scene.accounts.figures);
  expect(JSON.stringify(annotation)).not.toMatch(/key/);
  expect(figuresOn({ metadata: { annotations: annotation } } as never)).toEqual(scene.accounts.figures);
});

test("credentials that share an account have the same figures", async () => {
  const scene = await AccountScene.begin();
  scene.accepted.add("right");
  for (const name of ["a", "b"]) {
    scene.secret(name, { key: "right" });
    scene.account(name);
  }
  await list(await scene.accounts.open("n/a", {}));
  await list(await scene.accounts.open("n/b", {}));
  const [one, other] = scene.accounts.figures.accounts;
  expect({ ...one, name: "n/b" }).toEqual({ ...other, name: "n/b" });
  expect(one).toMatchObject({ name: "n/a", requests: expect.any(Number) });
});

test.each([undefined, "", "none", "{}", '{"requestsPerMinute":1,"accounts":[{"name":1}]}'])(
  "%s is not shown",
  (said) => {
    const metadata = {
      name: "lease",
      ...(said !== undefined && { annotations: { "tunnelgateway.dev/accounts": said } }),
    };
    expect(figuresOn({ apiVersion: "v1", kind: "Lease", metadata })).toBeUndefined();
  },
);
