import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { json, serve } from "../../../test/support/gateway-service.ts";
import { ListRoom } from "../../account/requests/list-room.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { AccountReader } from "./reader.ts";

const MIB = 1024 * 1024;
/** An answer of three MiB, of which little is kept. */
const bodyOf = (id: string) => JSON.stringify({ id, uri: `/ip_policies/${id}` }).padEnd(3 * MIB);

function readerOf(baseURL: string, room: ListRoom): AccountReader {
  const apiKey = async () => "key";
  const limits = { requestsPerMinute: 0, requestSeconds: 30, room };
  const reader = new AccountReader({ baseURL, apiKey, gatewayAccount: undefined, proxies: {}, ...limits });
  onTestFinished(() => reader[Symbol.asyncDispose]());
  return reader;
}

/** Whether no large answer is arriving. */
function isFree(room: ListRoom): boolean {
  const reading = room.begin("another", "another");
  try {
    reading.onAnswer(3.5 * MIB);
    return true;
  } catch {
    return false;
  } finally {
    reading.fail(undefined);
  }
}

test("answers that are read at the same time share the room, and each is told about its own", async () => {
  let slow: ServerResponse | undefined;
  const { url } = await serve((response, { url: path }) => {
    if (path.endsWith("ipp_gone")) return json(response, 404, { error_code: "ERR_1", status_code: 404, msg: "gone" });
    const body = bodyOf(path.split("/").at(-1) ?? "");
    response.writeHead(200, { "content-length": body.length });
    if (!path.endsWith("ipp_slow")) return response.end(body);
    slow = response;
    onTestFinished(() => void response.destroy());
    return response.write(body.slice(0, 1));
  });
  const room = new ListRoom({ bytes: 8 * MIB, way: "Do this" });
  const reader = readerOf(url, room);
  const first = reader.get(ipPolicies, "ipp_slow");
  first.catch(() => {});
  while (isFree(room)) await turn();
  await expect(reader.get(ipPolicies, "ipp_1")).rejects.toThrow("Do this: there is no room for what has to be read");
  expect(await reader.get(ipPolicies, "ipp_gone")).toBeUndefined();
  expect(isFree(room)).toBe(false);
  slow?.end(bodyOf("ipp_slow").slice(1));
  expect(await first).toMatchObject({ id: "ipp_slow" });
  expect(isFree(room)).toBe(true);
  expect(await reader.get(ipPolicies, "ipp_1")).toMatchObject({ id: "ipp_1" });
});

test("what was read one by one counts until the reader is done", async () => {
  const { url } = await serve((response) =>
    json(response, 200, { id: "ipp_1", uri: "/ip_policies/ipp_1", metadata: "x".repeat(MIB) }),
  );
  const room = new ListRoom({ bytes: 8 * MIB, way: "Do this" });
  const reader = readerOf(url, room);
  for (let read = 0; read < 3; read += 1) await reader.get(ipPolicies, "ipp_1");
  await expect(reader.get(ipPolicies, "ipp_1")).rejects.toThrow("there is no room");
  await reader[Symbol.asyncDispose]();
  expect(isFree(room)).toBe(true);
});
