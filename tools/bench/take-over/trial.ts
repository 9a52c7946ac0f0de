// Takes an account that people have made under management, and checks that nothing is sent but owner marks.
import { parseArgs } from "node:util";
import { installKinds } from "../../cluster/install-kinds.ts";
import { startCluster } from "../../cluster/start.ts";
import { takeOver } from "./take-over.ts";

const { values } = parseArgs({
  options: { resources: { type: "string", default: "3000" }, terraform: { type: "boolean", default: false } },
});
const NAMESPACE = "trial";

const cluster = await startCluster();
try {
  await installKinds(cluster);
  await cluster.kubectlRun(["create", "namespace", NAMESPACE]);
  const startedAt = performance.now();
  const findings = await takeOver({
    cluster,
    namespace: NAMESPACE,
    resources: Number(values.resources),
    terraform: values.terraform,
    onFinding({ what, isRight, more }) {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(5);
      console.log(`${isRight ? "ok  " : "FAIL"} ${seconds} s  ${what}${more ? `\n${more}` : ""}`);
    },
  });
  process.exitCode = findings.every(({ isRight }) => isRight) ? 0 : 1;
} finally {
  await cluster.stop();
}
