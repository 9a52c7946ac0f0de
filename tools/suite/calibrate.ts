import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { timed } from "./timed.ts";

/** CPU seconds that a fixed piece of work takes now, on each core at once: what the times of the parts are compared by. */
export async function calibrate(): Promise<number> {
  const runs = Array.from({ length: availableParallelism() }, () => timed([process.execPath, import.meta.filename]));
  const all = await Promise.all(runs);
  return all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0) / all.length;
}

/** What tests do most, in small: objects, texts, and compressed numbers. */
function work(): void {
  let digest = "";
  for (let round = 0; round < 900; round += 1) {
    const rows = Array.from({ length: 400 }, (_, index) => ({ id: `${digest}${index}`, labels: { round, index } }));
    const text = JSON.stringify(rows.toSorted((one, other) => (one.id < other.id ? 1 : -1)));
    digest = createHash("sha256")
      .update(JSON.stringify(JSON.parse(text)))
      .digest("hex");
  }
}

if (process.argv[1] === import.meta.filename) work();
