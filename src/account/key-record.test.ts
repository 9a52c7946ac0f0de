import { describe, expect, it } from "vitest";
import { keyScene } from "../../test/fakes/account/key-scene.ts";
import { ipPolicies } from "../gateway/resources/index.ts";
import type { KeyProofOptions } from "./key-proof.ts";
import type { EarlierRecord } from "./key-record.ts";

// What one process records of keys for the next one, and what a person confirms.

const mismatch = expect.objectContaining({ name: "Blocked", reason: "AccountMismatch" });

/** Writes down each record of a key, and whether it replaces the earlier ones. */
function recording(given: Record<string, string[]>, more: Partial<KeyProofOptions> = {}) {
  const written: string[] = [];
  const record: KeyProofOptions["record"] = async (digest, { alone }) =>
    void written.push(`${digest}${alone ? " alone" : ""}`);
  return { ...keyScene(given, { record, ...more }), written };
}

describe("the record of a key", () => {
  it("stands beside those of other keys of the account, also when the key comes back", async () => {
    const { proof, use, accounts, written } = recording({ policies: ["ipp_1"] });
    await proof().ensureRecorded();
    accounts["rotated"] = ["ipp_1"];
    use("rotated");
    await proof().ensureRecorded();
    use("mine");
    await proof().ensureRecorded();
    proof().assertMayChange("mine");
    expect(written).toEqual(["mine", "rotated", "mine"]);
  });

  it("replaces those of other keys while no id is recorded, so a key that comes back is written again", async () => {
    const { proof, use, written } = recording({});
    for (const key of ["mine", "theirs", "mine"]) {
      use(key);
      await proof().ensureRecorded();
    }
    expect(written).toEqual(["mine alone", "theirs alone", "mine alone"]);
  });

  it("is written once for changes that begin at the same time", async () => {
    const { proof, use, written } = recording({});
    use("mine");
    await Promise.all([proof().ensureRecorded(), proof().ensureRecorded()]);
    expect(written).toEqual(["mine alone"]);
  });

  it("is written again before the next change when other credentials join, also while it is being written", async () => {
    const { proof, use, written } = recording(
      {},
      {
        record: async (digest) => {
          if (written.push(digest) === 1) proof().recordAgain();
        },
      },
    );
    use("mine");
    await proof().ensureRecorded();
    expect(written).toEqual(["mine", "mine"]);
    proof().recordAgain();
    expect(() => proof().assertMayChange("mine")).toThrow("not proved yet");
    await proof().ensureRecorded();
    expect(written).toEqual(["mine", "mine", "mine"]);
  });

  it("fails the next change when it cannot be written, and nothing else", async () => {
    let failures = 2;
    const record: KeyProofOptions["record"] = async () => {
      failures -= 1;
      if (failures >= 0) throw new Error("no permission");
    };
    const { proof } = recording({ policies: ["ipp_1"] }, { record });
    await proof().ensure();
    await expect(proof().ensureRecorded()).rejects.toThrow("no permission");
    expect(() => proof().assertMayChange("mine")).toThrow("not proved yet");
    await proof().ensureRecorded();
    proof().assertMayChange("mine");
  });

  it.each<[EarlierRecord, boolean, string[]]>([
    ["recorded", true, []],
    ["first", true, ["theirs"]],
    ["unknown", false, []],
  ])("of an earlier process says %s: the key is believed: %s", async (record, believed, then) => {
    const { proof, use, state, written } = recording({ policies: ["ipp_1"] }, { wasRecorded: async () => record });
    use("theirs");
    await proof()
      .ensure()
      .catch(() => undefined);
    // A key that is known from before is not written again.
    expect([proof().isProved, state.lists, written]).toEqual([believed, 1, then]);
  });
});

describe("a confirmed account", () => {
  it("drops the records of the former one, once", async () => {
    const { proof, use, accounts, recorded, written } = recording({ policies: ["ipp_1"] });
    await proof().ensureRecorded();
    use("theirs");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    proof().confirm(undefined);
    expect(proof().confirm("yes")).toBe(true);
    await proof().ensureRecorded();
    expect(written.splice(0)).toEqual(["mine", "theirs alone"]);
    recorded.get(ipPolicies)?.add("ipp_2");
    accounts["rotated"] = ["ipp_2"];
    use("rotated");
    await proof().ensureRecorded();
    expect(written.splice(0)).toEqual(["rotated"]);
    use("mine");
    accounts["mine"] = [];
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    proof().confirm(undefined);
    proof().confirm("back again");
    await proof().ensureRecorded();
    expect(written).toEqual(["mine alone"]);
  });

  it("drops the records of earlier processes, and what they proved, when it was confirmed at the start", async () => {
    const { proof, use, state, written } = recording({ policies: ["ipp_1"] }, { isConfirmed: true, proved: ["mine"] });
    state.key = "theirs";
    await proof().ensure();
    expect(written).toEqual(["theirs alone"]);
    use("mine");
    expect(proof().isProved).toBe(false);
  });
});

describe("a request to reconcile", () => {
  const confirmable = async () => {
    const one = keyScene({ policies: ["ipp_1"] });
    one.use("theirs");
    await expect(one.proof().ensure()).rejects.toEqual(mismatch);
    return one;
  };

  it("confirms a problem that was reported while no reconcile was requested", async () => {
    const { proof } = await confirmable();
    expect([proof().confirm(undefined), proof().confirm("first")]).toEqual([false, true]);
  });

  it("that came after the report for one key does not confirm the next key", async () => {
    const { proof, use } = await confirmable();
    expect(proof().confirm(undefined)).toBe(false);
    use("as wrong");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect([proof().confirm("between"), proof().confirm("between"), proof().isProved]).toEqual([false, false, false]);
    expect(proof().confirm("after")).toBe(true);
  });

  it("that came between two problems of one key does not confirm the second one", async () => {
    const { proof, recorded, state } = await confirmable();
    expect(proof().confirm(undefined)).toBe(false);
    recorded.get(ipPolicies)?.clear();
    await proof().ensure();
    expect([proof().problem, state.problems]).toEqual([undefined, [true, false]]);
    expect(proof().confirm("between")).toBe(false);
    recorded.get(ipPolicies)?.add("ipp_1");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect([proof().confirm("between"), proof().isProved]).toEqual([false, false]);
  });
});

describe("objects that cannot be read", () => {
  const unread = () => "Let the operator read team-a";

  it("may have recorded remotes, so a new key is not believed although no other object has any", async () => {
    const { proof, use, state } = keyScene({}, { unread });
    await expect(proof().ensure()).rejects.toMatchObject({ name: "Outdated" });
    use("mine");
    expect(proof().isTrusted).toBe(false);
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect(proof().problem?.message).toMatch(
      /^Let the operator read team-a: the API key is a new one, .*, set the annotation reconcile-requested-at on GatewayAccount "staging"$/,
    );
    proof().recordFirstID();
    expect([proof().isProved, state.lists, state.reads]).toEqual([false, 0, 0]);
  });

  it("are not named where the recorded remotes of other objects are not in the account of the key", async () => {
    const { proof, use } = keyScene({ policies: ["ipp_1"] }, { unread });
    use("theirs");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect(proof().problem?.message).toContain("does not show the one remote");
  });

  it("do not stop the very first key of an account", async () => {
    const { proof, use } = keyScene({}, { unread, wasRecorded: async () => "first" });
    use("mine");
    await proof().ensure();
    expect(proof().isProved).toBe(true);
  });
});
