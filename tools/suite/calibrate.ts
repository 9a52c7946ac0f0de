import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { availableParallelism } from "node:os";
import { timed } from "./timed.ts";

/**
 * CPU seconds that a fixed piece of work takes now, on each core at once: what the times of the parts are compared by. It
 * has what tests have, since machines that compute alike differ by a factor of two in starting programs and in sockets.
 */
export async function calibrate(): Promise<number> {
  const runs = Array.from({ length: availableParallelism() }, () => timed([process.execPath, import.meta.filename]));
  const all = await Promise.all(runs);
  return all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0) / all.length;
}

const rowsOf = (digest: string) =>
  Array.from({ length: 400 }, (_, index) => ({ id: `${digest}${index}`, labels: { digest, index } }));

/** Objects, texts, and compressed numbers. */
function compute(): void {
  let digest = "";
  for (let round = 0; round < 900; round += 1) {
    const text = JSON.stringify(rowsOf(digest).toSorted((one, other) => (one.id < other.id ? 1 : -1)));
    digest = createHash("sha256")
      .update(JSON.stringify(JSON.parse(text)))
      .digest("hex");
  }
}

/** Each start of a program asks for memory and reads files. */
function startPrograms(): void {
  for (let count = 0; count < 10; count += 1) execFileSync(process.execPath, ["--eval", "0"]);
}

async function exchange(): Promise<void> {
  const body = JSON.stringify(rowsOf("row").slice(0, 60));
  const server = createServer((_, response) => response.end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (let round = 0; round < 250; round += 1)
    await Promise.all(Array.from({ length: 4 }, async () => (await fetch(url)).json()));
  server.close();
  server.closeAllConnections();
}

if (process.argv[1] === import.meta.filename) {
  compute();
  startPrograms();
  await exchange();
}
