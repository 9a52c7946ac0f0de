import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** A bench that is interrupted, or fails, leaves nothing running. */
export function endWithThisProcess(child: ChildProcess): void {
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
}

/** Resolves when the process is gone. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}
