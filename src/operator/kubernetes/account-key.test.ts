import { describe, expect, it } from "vitest";
import type { SecretValue } from "../../reconcile/cluster.ts";
import { type AccountKeyObject, allowedBaseURL, readAccountKey } from "./account-key.ts";

const account = (baseURL?: string, accepted?: string): AccountKeyObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "GatewayAccount",
  metadata: { namespace: "team", name: "a" },
  spec: { apiKeySecretRef: { name: "keys", key: "key" }, ...(baseURL && { baseURL }) },
  ...(accepted && { status: { baseURL: accepted } }),
});

const operator = { baseURL: "https://api.example", allowedHosts: ["other.example:8443"] };
const command = { baseURL: undefined, allowedHosts: [], trustsStatus: true };

describe("the key of a GatewayAccount is sent to", () => {
  it.each([
    [operator, account(), "https://api.example"],
    [operator, account("https://api.example/v2"), "https://api.example/v2"],
    [operator, account("https://other.example:8443"), "https://other.example:8443"],
    [command, account(undefined, "https://api.example"), "https://api.example"],
    [command, account("https://own.example", "https://own.example"), "https://own.example"],
    [{ ...command, baseURL: "https://own.example" }, account("https://own.example/x"), "https://own.example/x"],
    // the environment of a shell may name the service of another account
    [{ ...command, baseURL: "https://own.example" }, account(undefined, "https://api.example"), "https://api.example"],
  ])("a host that is allowed (%#)", async (allowed, object, baseURL) => {
    const secret: SecretValue = { resourceVersion: "1", data: { key: "hunter2" }, annotations: {}, owners: [] };
    expect(await readAccountKey(object, allowed, async () => secret)).toEqual({ baseURL, apiKey: "hunter2" });
  });

  it.each([
    [operator, account("https://evil.example")],
    [operator, account("https://other.example")],
    [operator, account("https://api.example.evil.example")],
    [operator, account("https://api.example:444")],
    [operator, account("http://api.example")],
    // the operator's own word does not count for itself: the list of hosts may have changed since
    [operator, account("https://evil.example", "https://evil.example")],
    [command, account("https://evil.example")],
    [command, account()],
    [command, account("https://evil.example", "https://api.example")],
  ])("no other (%#), and its Secret is not even read", async (allowed, object) => {
    const reads: string[] = [];
    const read = async (_: string, name: string) => void reads.push(name);
    await expect(readAccountKey(object, allowed, read)).rejects.toMatchObject({ reason: "InvalidSpec" });
    expect(() => allowedBaseURL(object, allowed)).toThrow();
    expect(reads).toEqual([]);
  });
});
