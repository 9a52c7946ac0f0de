import { expect, onTestFinished, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { json, serve } from "../../support/gateway-service.ts";
import { OperatorProcess } from "../../support/operator-process.ts";
import { useWorld } from "../../support/world.ts";

const ROWS = 1500;
const PAGE = 100;
/** The heap that Node takes in a container with the memory limit of the chart. */
const HEAP_MIB = 256;

const world = useWorld({ startOperator: false });

const row = (index: number) => ({ id: `ipp_x${index}`, uri: `/ip_policies/ipp_x${index}`, metadata: "" });

test("rows of 300 KB, most of it in members that the API page does not have, fit into the memory limit", async () => {
  const large = "x".repeat(300_000);
  const { url, seen } = await serve((response, { method, url: path, body }) => {
    if (method === "POST") return json(response, 201, { ...row(ROWS), ...JSON.parse(body) });
    const at = Number(new URL(path, "http://gateway").searchParams.get("at"));
    const next = at + PAGE < ROWS ? `/ip_policies?at=${at + PAGE}` : null;
    const rows = Array.from({ length: PAGE }, (_, index) => ({ ...row(at + index), new_member: large }));
    return json(response, 200, { ip_policies: rows, uri: "/ip_policies", next_page_uri: next });
  });
  const operator = new OperatorProcess({
    kubeconfig: world.cluster.kubeconfig,
    gateway: { url, apiKey: "key" },
    namespaces: [world.namespace],
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
  });
  onTestFinished(() => operator.stop("SIGKILL").then(() => undefined));
  await operator.started();
  await world.kube.apply(manifest("IPPolicy", "office", {}));
  await world.until("the object is created", async () => {
    expect(operator.isRunning).toBe(true);
    return seen.some(({ method }) => method === "POST");
  });
}, 120_000);
