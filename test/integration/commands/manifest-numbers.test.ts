import fc from "fast-check";
import { expect, test } from "vitest";
import { noManifests, parse } from "../../../src/cli/plan/manifests.ts";
import { useCluster } from "../../../tools/cluster/use.ts";
import { run } from "../../../tools/shared/run.ts";

// What `plan -f` reads in a manifest is what kubectl reads there, and never only what our library takes it for.

const cluster = useCluster();

const head = "apiVersion: tunnelgateway.dev/v1\nkind: IPPolicy\nmetadata: {name: numbers}\nspec:\n  list:\n";

test("plain texts that begin like a number are read as kubectl reads them", async () => {
  const text = fc
    .stringMatching(/^[-+.0-9][0-9eE.+_xXoOaAbBfF-]{0,6}$/)
    .filter((one) => /[0-9a-z]/i.test(one) && !/^[-+]?\.(inf|nan)$/i.test(one));
  const texts = fc.sample(text, { numRuns: 2000, seed: 5 });
  const manifest = head + texts.map((one) => `  - ${one}\n`).join("");
  const args = ["annotate", "--local", "-f", "-", "-o", "json", "read=yes"];
  const { code, stdout } = await run(cluster.kubectl, args, { input: manifest, env: { KUBECONFIG: "/dev/null" } });
  expect(code).toBe(0);
  const theirs: unknown[] = JSON.parse(stdout).spec.list;
  const result = noManifests();
  parse(manifest, "numbers.yaml", result);
  expect(result.problems).toEqual([]);
  const [ours = []] = result.manifests.map(({ object }) => (object["spec"] as { list: unknown[] }).list);
  expect(ours).toHaveLength(theirs.length);
  // JSON has -0, which is 0 to everybody who reads it
  const differing = texts.filter((_, at) => ours[at] !== theirs[at]);
  expect(differing).toEqual([]);
});
