import { join } from "node:path";
import { expect, test } from "vitest";
import { BUILD_MS, externalDNSBinary } from "../../tools/cluster/build/build.ts";
import { bindPrograms, withoutBind } from "../../tools/dns/programs.ts";
import { Child } from "../../tools/shared/child.ts";
import { run } from "../../tools/shared/run.ts";

const DEMO = join(import.meta.dirname, "../../tools/demo/main.ts");

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
    // With a cluster of its own, which is removed as a whole at the end.
    const { TEST_KUBECONFIG: _, ...env } = process.env;
    const demo = new Child(DEMO, { env, args: programs ? ["--dns"] : [] });
    try {
      await demo.said("Stays until Ctrl-C");
      const page = (await demo.said("?token=")).trim();
      expect((await fetch(page, { redirect: "manual" })).status).toBe(303);
      const printed = demo.lines.slice(demo.lines.findIndex((line) => line.includes("Try next")));
      expect(printed.filter((line) => line.length > 80)).toEqual([]);
      const commands = printed
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
      await demo.said("AgentCommand/restart");
      expect(output).toContain("Plan: 1 to update");
      expect(output).toContain("ippolicy.tunnelgateway.dev/branch-office created");
      if (programs) await expectOrder(demo, output);
      await expectOutage(demo, commands);
    } finally {
      demo.signal("SIGINT");
      await demo.exited();
    }
  },
  BUILD_MS,
);

/** The screen says that the service does not answer, and that it does again, once the operator has looked. */
async function expectOutage(demo: Child, commands: readonly string[]): Promise<void> {
  const exports = commands.filter((line) => line.startsWith("export "));
  const look = commands.find((line) => line.includes("reconcile-requested-at")) ?? "";
  for (const [on, said] of [
    [true, "service  does not answer"],
    [false, "service  answers again"],
  ] as const) {
    const change = commands.find((line) => line.includes(`/_control/outage -d '[${on}]'`)) ?? "";
    const { code, output } = await paste([...exports, change, look]);
    expect(code, output).toBe(0);
    await demo.said(said);
  }
}

/** The domain had its record when all was Ready. It was deleted by one of the commands, and goes after its record. */
async function expectOrder(demo: Child, pasted: string): Promise<void> {
  expect(pasted).toContain("kind: DNSEndpoint");
  const made = await demo.said("CNAME shop.example.com → ");
  const recordGone = await demo.said("CNAME shop.example.com is gone");
  const released = await demo.said("DELETE /reserved_domains/");
  const places = [made, recordGone, released].map((line) => demo.lines.indexOf(line));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  // A line that is too wide goes on in the next one.
  const at = demo.lines.indexOf(released);
  expect(demo.lines.slice(at, at + 2).join(" ")).toContain("→ 204");
}
