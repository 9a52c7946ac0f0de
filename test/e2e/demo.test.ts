import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { BUILD_MS, externalDNSBinary } from "../../tools/cluster/build/build.ts";
import { demo } from "../../tools/demo/demo.ts";
import { bindPrograms, withoutBind } from "../../tools/dns/programs.ts";
import { run } from "../../tools/shared/run.ts";
import { recordingOf } from "./support/demo-recording.ts";
import { RecordedScreen } from "./support/recorded-screen.ts";

/** What people see in a terminal of this width is kept there. */
const recordings = join(import.meta.dirname, "../../tools/demo/recordings");

/** Runs lines as a person would paste them. A line that fails, or does not end, ends all. */
async function paste(lines: readonly string[]): Promise<{ code: number; output: string }> {
  const script = [
    "exec 2>&1",
    'cd "$(mktemp -d)"',
    "set -e -o pipefail",
    ...lines.flatMap((line) => [`echo '$' ${quoted(line)}`, line]),
  ];
  const { code, stdout } = await run("bash", ["-c", script.join("\n")], { timeout: 500_000 });
  return { code, output: stdout };
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

// With BIND, the demo prints all that it prints without it, and more.
const programs = await bindPrograms();

test(
  `each command that the demo prints ends well${programs ? "" : `, but those for DNS are ${withoutBind}`}`,
  async () => {
    if (programs) await externalDNSBinary();
    // with a cluster of its own, which is removed as a whole at the end
    vi.stubEnv("TEST_KUBECONFIG", "");
    onTestFinished(() => void vi.unstubAllEnvs());
    const screen = new RecordedScreen();
    const interrupted = new AbortController();
    const end = demo({ once: false, dns: programs !== undefined, timeout: 120 }, screen, interrupted.signal);
    try {
      await Promise.race([screen.said("Stays until Ctrl-C"), end]);
      const lines = screen.lines(80);
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      for (const columns of [80, 120]) {
        await expect(recordingOf(screen.lines(columns))).toMatchFileSnapshot(
          join(recordings, `${columns}-columns.txt`),
        );
      }
      const page = (await screen.said("?token=")).trim();
      expect((await fetch(page, { redirect: "manual" })).status).toBe(303);
      const commands = lines
        .slice(lines.findIndex((line) => line.includes("Try next")))
        .join("\n")
        .replaceAll(/\\\n */g, "")
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => /^(export|kubectl|curl) /.test(line));
      expect(commands.length).toBeGreaterThan(16);
      const { code, output } = await paste(commands);
      expect(code, output).toBe(0);
      expect(output).toMatch(/tunnelsession\.tunnelgateway\.dev\/ts-\S+ +eu +linux/);
      expect(output).toContain("agentcommand.tunnelgateway.dev/restart");
      await screen.said("AgentCommand/restart");
      expect(output).toContain("Plan: 1 to update");
      expect(output).toContain("ippolicy.tunnelgateway.dev/branch-office created");
      if (programs) await expectOrder(screen, output);
      await expectOutage(screen, commands);
      expect(screen.lines(80).filter((line) => line.length > 80)).toEqual([]);
    } finally {
      interrupted.abort();
      await expect(end).rejects.toBe(interrupted.signal.reason);
    }
  },
  BUILD_MS,
);

/** The screen says that the service does not answer, and that it does again, once the operator has looked. */
async function expectOutage(screen: RecordedScreen, commands: readonly string[]): Promise<void> {
  const exports = commands.filter((line) => line.startsWith("export "));
  const look = commands.find((line) => line.includes("reconcile-requested-at")) ?? "";
  for (const [on, said] of [
    [true, "service  does not answer"],
    [false, "service  answers again"],
  ] as const) {
    const change = commands.find((line) => line.includes(`/_control/outage -d '[${on}]'`)) ?? "";
    const { code, output } = await paste([...exports, change, look]);
    expect(code, output).toBe(0);
    await screen.said(said);
  }
}

/** The domain had its record when all was Ready. It was deleted by one of the commands, and goes after its record. */
async function expectOrder(screen: RecordedScreen, pasted: string): Promise<void> {
  expect(pasted).toContain("kind: DNSEndpoint");
  const made = await screen.said("CNAME shop.example.com → ");
  const recordGone = await screen.said("CNAME shop.example.com is gone");
  const released = await screen.said("DELETE /reserved_domains/");
  const lines = screen.lines(80);
  const places = [made, recordGone, released].map((line) => lines.indexOf(line));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  // A line that is too wide goes on in the next one.
  const at = lines.indexOf(released);
  expect(lines.slice(at, at + 2).join(" ")).toContain("→ 204");
}
