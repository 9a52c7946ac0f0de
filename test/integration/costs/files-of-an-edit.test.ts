import { expect, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { filesPassedBy } from "../../fakes/reconcile/files-passed.ts";
import { useWorld } from "../../support/world.ts";

/** What a reader of the whole way of an edit has to open: from the watch to the PATCH and the status. */
const MOST_FILES = 145;

const world = useWorld();

test(`an edit of a TCPEdge passes at most ${MOST_FILES} files of src`, async () => {
  const applied = async (more: object) => {
    await world.apply(manifest("TCPEdge", "db", { hostports: ["a.example.com:1"], ...more }));
    await world.ready("TCPEdge", "db");
  };
  await applied({});
  const files = await filesPassedBy(() => applied({ description: "edited" }));
  expect(files).toContain("reconcile/apply/send-plan.ts");
  expect(files.length, files.join("\n")).toBeLessThanOrEqual(MOST_FILES);
});
