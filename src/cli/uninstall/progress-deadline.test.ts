import { beforeEach, expect, it } from "vitest";
import { customResources } from "../../kinds/index.ts";
import { typeOf } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";
import type { OwnObject } from "../cluster/objects.ts";
import { WaitTimeout } from "../cluster/wait.ts";
import { ProgressDeadline } from "./progress-deadline.ts";

const IPPolicy = customResources.find(({ kind }) => kind === "IPPolicy") as (typeof customResources)[number];
let time = 0;
let deadline: ProgressDeadline;

beforeEach(() => {
  time = 0;
  deadline = new ProgressDeadline(() => time);
});

const left = (reason: string, { name = "office", paused = false, message = "" } = {}): OwnObject => ({
  resource: IPPolicy,
  type: typeOf(IPPolicy),
  ref: { namespace: "demo", name },
  object: {
    apiVersion: "tunnelgateway.dev/v1",
    kind: "IPPolicy",
    metadata: { name, namespace: "demo", uid: name, ...(paused && { annotations: { [annotations.paused]: "true" } }) },
    status: { conditions: [{ type: "Ready", status: "False", reason, message }] },
  },
});

/** How long it waits while it always sees the same, in minutes. */
function minutesFor(...objects: OwnObject[]): number {
  for (const begin = time; ; time += 1000) {
    try {
      deadline.observe(objects);
    } catch (error) {
      if (!(error instanceof WaitTimeout)) throw error;
      return (time - begin) / 60_000;
    }
  }
}

it.each([
  ["four minutes for an operator that does nothing", [left("Available")], 4],
  ["longer than any record may take to go", [left("DNSRecordRemains"), left("InUse", { name: "b" })], 12],
  ["not for a paused object", [left("Deleting", { paused: true })], 1 / 3],
  [
    "for records beside a paused object",
    [left("Deleting", { paused: true }), left("DNSRecordRemains", { name: "b" })],
    12,
  ],
])("waits %s", (_, objects, minutes) => {
  expect(minutesFor(...objects)).toBeCloseTo(minutes);
});

it("does not time out while anything changes", () => {
  for (const objects of [[left("Available"), left("InUse", { name: "b" })], [left("Deleting")], [left("InUse")]]) {
    deadline.observe(objects);
    time += 239_000;
    deadline.observe(objects);
  }
});

it("does not count a message that counts down as a change", () => {
  deadline.observe([left("Deleting", { message: "in 3 min" })]);
  time += 240_000;
  expect(() => deadline.observe([left("Deleting", { message: "in 2 min" })])).toThrow("Nothing has changed for 240 s");
});
