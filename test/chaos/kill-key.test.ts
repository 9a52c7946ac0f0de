import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeJSON } from "../support/world.ts";
import { type Point, STORY_MS, useStage } from "./stage.ts";
import { casesOf, type Subject } from "./subjects.ts";

const stage = useStage();

/** Its token comes once, in the answer to the create: a key whose token was lost is made anew, and the first one goes. */
const key: Subject = {
  sort: "key",
  kind: "APIKey",
  collection: "api_keys",
  spec: (name) => ({ description: name, tokenSecretName: name }),
  edited: (name) => ({ description: name, tokenSecretName: name, metadata: '{"edited":true}' }),
  isEdited: ({ metadata }) => JSON.parse(String(metadata)).edited === true,
  lookalike: (name) => ({ description: name }),
  steps: { create: ["secret", "try secret", "intent", "POST", "write secret", "status"] },
};

/** Whether the service takes the token in the Secret of this object. */
async function isAccepted(name: string): Promise<boolean> {
  const { data } = await stage.world.kube.get("Secret", name);
  const authorization = `Bearer ${Buffer.from(data.token, "base64").toString()}`;
  const { status } = await fetch(`${stage.world.simulator.url}/ip_policies`, {
    headers: { authorization, "svc-version": "2" },
  });
  return status === 200;
}

const isTokenLost = ({ step, at }: Point): boolean =>
  step === "POST" ? at !== "before" : step === "write secret" && at === "before";

describe.each(["before", "after", "late"] as const)("killed %s a step of the create of a key", (at) => {
  const cases = casesOf("create", at, [key]);
  let objects: Map<string, KubeJSON>;

  beforeAll(async () => {
    await stage.create(cases);
    await stage.killAt(cases.map(({ point }) => point));
    await stage.restart();
    await stage.allReady(cases);
    // a key that cannot be used is deleted once the new one is in place
    await stage.world.until("one is left of each", async () => cases.every((one) => stage.remotesOf(one).length === 1));
    await stage.world.quiet();
    objects = await stage.objects();
  }, STORY_MS);

  afterAll(() => stage.clear());

  test.each(cases)("$name: the next process ends with one key, and its token in the Secret", async (one) => {
    const { id } = objects.get(one.name).status;
    expect(stage.remotesOf(one).map((row) => row["id"])).toEqual([id]);
    expect(await isAccepted(one.name)).toBe(true);
    expect(stage.createsOf(one.name)).toBe(isTokenLost(one.point) ? 2 : 1);
  });

  test("nothing of somebody else's is touched", () => stage.others.expectUntouched());
});
