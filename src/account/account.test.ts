import { beforeEach, describe, expect, it } from "vitest";
import { ipPolicies, tlsEdges, tunnelSessions } from "../gateway/resources/index.ts";
import { Scene } from "../reconcile/testing/scene.ts";
import type { Account } from "./account.ts";

let scene: Scene;
let account: Account;

beforeEach(() => {
  scene = new Scene();
  ({ account } = scene);
});

describe("an operation", () => {
  it("is never sent when the service does not have it, and when the API page does not show it only where undocumented operations may be tried", () => {
    expect(account.supports(tunnelSessions, "delete")).toBe(false);
    expect(account.support(tunnelSessions, "delete")).toBe("unsupported");
    expect(account.supports(tlsEdges, "delete")).toBe(true);
    const cautious = new Scene({ undocumented: false }).account;
    expect(cautious.supports(tlsEdges, "delete")).toBe(false);
    expect(cautious.supports(ipPolicies, "delete")).toBe(true);
  });

  it("that the service refused is refused for this operation, this resource and this account alone", () => {
    account.operationRefused(ipPolicies, "delete");
    const others = [account.supports(ipPolicies, "update"), account.supports(tlsEdges, "delete")];
    expect([...others, new Scene().account.supports(ipPolicies, "delete")]).toEqual([true, true, true]);
  });

  it("is tried for one object at a time after the service refused it", async () => {
    account.operationRefused(ipPolicies, "delete");
    expect(account.supports(ipPolicies, "delete")).toBe(false);
    await scene.clock.advance(account.secondsUntilTry(ipPolicies, "delete") * 1000);
    expect(account.supports(ipPolicies, "delete")).toBe(true);
    account.operationTried(ipPolicies, "delete");
    expect(account.supports(ipPolicies, "delete")).toBe(false);
    account.operationAccepted(ipPolicies, "delete");
    expect(account.supports(ipPolicies, "delete")).toBe(true);
  });
});
