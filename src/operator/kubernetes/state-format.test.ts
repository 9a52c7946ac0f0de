import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiServerForTest } from "../../../test/fakes/runtime/api-server-for-test.ts";
import type { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { STATE_SECRET, secretAnnotations } from "../../schema/contract.ts";
import { STATE_FORMAT, StateFormat } from "./state-format.ts";

const SECRETS = "v1/secrets";
const KEY = `own/${STATE_SECRET}`;

let server: FakeApiServer;
let client: KubeClient;
let clock: VirtualClock;
let step: StateFormat;

beforeEach(async () => {
  ({ server, client } = await apiServerForTest());
  clock = new VirtualClock();
});

afterEach(() => step.stop());

/** Records that a program of this format was the leader; undefined: one that recorded none. */
function given(format: string | undefined): void {
  const annotations = format === undefined ? {} : { [secretAnnotations.format]: format };
  server.storage.create(SECRETS, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "own", name: STATE_SECRET, annotations },
  });
}

/** A program of this format becomes the leader. Resolves when it has begun or has refused. */
async function lead(format?: number): Promise<string> {
  step = new StateFormat({ client, clock, namespace: "own", log: recordingLogger(), ...(format && { format }) });
  step.start();
  let outcome = "";
  void step.synced.then(
    () => {
      outcome = "begun";
    },
    () => {},
  );
  while (outcome === "" && step.problem === undefined) await new Promise(setImmediate);
  return step.problem ?? outcome;
}

const recorded = () => server.storage.get(SECRETS, KEY)?.metadata.annotations?.[secretAnnotations.format];
const writes = () => server.received.filter(({ method }) => method !== "GET");

describe("a program", () => {
  it("of the first format starts, and writes nothing, when no format is recorded", async () => {
    given(undefined);
    expect(await lead(1)).toBe("begun");
    expect(writes()).toEqual([]);
  });

  it("starts when its own format is recorded", async () => {
    given(String(STATE_FORMAT));
    expect(await lead()).toBe("begun");
    expect(writes()).toEqual([]);
  });

  it.each([undefined, "1", "2"])("of a later format than %s records its format, once", async (before) => {
    given(before);
    expect(await lead(3)).toBe("begun");
    expect(recorded()).toBe("3");
    expect(writes()).toHaveLength(1);
  });

  it("of an earlier format reports what to do, and starts when it may", async () => {
    given("2");
    expect(await lead(1)).toBe(
      `Secret ${KEY}: install the newer version of the operator again: it keeps its state in format 2, and this version knows only format 1`,
    );
    expect(recorded()).toBe("2");
    server.storage.update(SECRETS, KEY, (now) => ({ ...now, metadata: { ...now.metadata, annotations: {} } }));
    await clock.advance(60_000);
    await step.synced;
  });

  it("does not guess the meaning of an invalid format", async () => {
    given("two");
    expect(await lead(1)).toContain('correct the annotation tunnelgateway.dev/format: "two" is no whole number');
    expect(writes()).toEqual([]);
  });
});
