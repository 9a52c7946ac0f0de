import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { startSimulator } from "./simulator.ts";

const ids = async (seed?: number) => {
  const simulator = await startSimulator(seed === undefined ? {} : { seed });
  const made = [simulator.apiKey, simulator.control.insert("ip_policies", {}).id];
  await simulator.stop();
  return made;
};

describe("a simulator", () => {
  it("repeats its ids and key by its seed, and otherwise never", async () => {
    expect(await ids(7)).toEqual(await ids(7));
    expect(await ids(7)).not.toEqual(await ids(8));
    expect(await ids()).not.toEqual(await ids());
  });

  it.each([0, -600_000, 600_000])("dates answers and rows by its own clock, %d ms ahead", async (clockOffsetMs) => {
    const { url, apiKey, stop } = await startSimulator({
      clockOffsetMs,
      clock: () => Date.parse("2026-01-01T12:00:00Z"),
    });
    const headers = { authorization: `Bearer ${apiKey}`, "svc-version": "2", "content-type": "application/json" };
    const answer = await fetch(`${url}/ip_policies`, { method: "POST", headers, body: "{}" });
    const made = (await answer.json()) as { created_at: string };
    const times = [answer.headers.get("date"), made.created_at].map((time) => Date.parse(time ?? ""));
    expect(times.map((time) => time - Date.parse("2026-01-01T12:00:00Z"))).toEqual([clockOffsetMs, clockOffsetMs]);
    await stop();
  });

  it("stops although somebody still waits for an answer", async () => {
    const { url, control, stop } = await startSimulator();
    control.fault({ action: { hang: true } });
    const answer = fetch(`${url}/ip_policies`);
    answer.catch(() => undefined);
    await expect.poll(() => control.count(), { interval: 5 }).toBe(1);
    await stop();
    await expect(answer).rejects.toThrow();
  });

  it("says when its port is taken", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    await expect(startSimulator({ port })).rejects.toThrow("EADDRINUSE");
    await new Promise((resolve) => other.close(resolve));
  });

  it("names itself as its callers do", async () => {
    const { url, apiKey, control, stop } = await startSimulator();
    const { id } = control.insert("api_keys", {});
    const headers = { authorization: `Bearer ${apiKey}`, "svc-version": "2", host: "gateway.test:1234" };
    const response = await new Promise<IncomingMessage>((resolve) =>
      get(`${url}/api_keys/${id}`, { headers }, resolve),
    );
    expect(await json(response)).toMatchObject({ uri: `http://gateway.test:1234/api_keys/${id}` });
    await stop();
  });

  it("takes its time", async () => {
    const { url, stop } = await startSimulator({ latencyMs: 50 });
    const before = performance.now();
    await fetch(`${url}/ip_policies`);
    expect(performance.now() - before).toBeGreaterThanOrEqual(45);
    await stop();
  });
});
