import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { completionOf } from "./completion.ts";
import { programOf } from "./program.ts";

const terminal = { say: () => {}, warn: () => {} };
const { program } = programOf({ name: "tunnel-gateway-operator", terminal, run: async () => 0 });

/** What bash offers after these words. */
function offered(...words: string[]): string[] {
  const script = `${completionOf("bash", program)}
COMP_WORDS=(tunnel-gateway-operator ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}
_tunnelgateway; echo "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim().split(" ");
}

test("bash completes commands, and the flags of each", () => {
  expect(offered("un")).toEqual(["uninstall"]);
  expect(offered("")).toEqual(program.commands.map((command) => command.name()));
  expect(offered("uninstall", "--p")).toEqual(["--policy"]);
  expect(offered("move", "--t")).toEqual(["--to-context", "--timeout"]);
});

test("zsh takes the script of bash, and fish has lines of its own", () => {
  expect(completionOf("zsh", program)).toContain(completionOf("bash", program));
  expect(completionOf("fish", program)).toContain(
    `complete -c kubectl-tunnelgateway -n "__fish_seen_subcommand_from uninstall" -l policy`,
  );
});

test("another shell is refused", () => {
  expect(() => completionOf("tcsh", program)).toThrow("none for tcsh");
});
