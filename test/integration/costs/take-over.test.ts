import { expect, test } from "vitest";
import { takeOver } from "../../../tools/bench/take-over/take-over.ts";
import { useCluster } from "../../../tools/cluster/use.ts";

/** More than one of each type. People run it with thousands: tools/bench/take-over/trial.ts. */
const RESOURCES = 40;

const cluster = useCluster();

test.each([
  ["as its lists show it", false],
  ["as a state of Terraform has it", true],
])(
  "an account comes under management, %s, and nothing is sent but owner marks",
  async (_, terraform) => {
    const namespace = await cluster.freshNamespace("trial");
    const findings = await takeOver({ cluster, namespace, resources: RESOURCES, terraform });
    expect(findings.filter(({ isRight }) => !isRight)).toEqual([]);
    expect(findings).toHaveLength(6);
  },
  120_000,
);
