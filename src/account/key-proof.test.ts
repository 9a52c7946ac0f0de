import { describe, expect, it } from "vitest";
import { ipPolicies, tcpEdges } from "../gateway/resources/index.ts";
import { VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { KeyProof, type KeyProofOptions } from "./key-proof.ts";

/** Accounts by their keys: the ids that each shows. `given` has the ids that objects have. */
function scene(given: Record<string, string[]>, more: Partial<KeyProofOptions> = {}) {
  const clock = new VirtualClock();
  const recorded = new Map([
    [ipPolicies, new Set(given["policies"] ?? [])],
    [tcpEdges, new Set(given["edges"] ?? [])],
  ]);
  const accounts: Record<string, string[]> = { mine: [...recorded.values()].flatMap((ids) => [...ids]), theirs: [] };
  const state = { key: "mine", lists: 0, reads: 0, problems: [] as boolean[], changes: 0 };
  const options: KeyProofOptions = {
    clock,
    recorded: () => new Map([...recorded].filter(([, { size }]) => size > 0)),
    believesFirstKey: () => false,
    wayOut: () => "say so",
    readList: async () => {
      state.lists += 1;
      proof.use(state.key);
      proof.recordSeenIDs(accounts[state.key] ?? [], proof.epoch);
    },
    readOne: async (_, id) => {
      state.reads += 1;
      proof.use(state.key);
      if (accounts[state.key]?.includes(id)) proof.recordSeenIDs([id], proof.epoch);
    },
    onKeyChange: () => {
      state.changes += 1;
    },
    onProblem: (exists) => state.problems.push(exists),
    ...more,
  };
  const proof: KeyProof = new KeyProof(options);
  const use = (key: string) => {
    state.key = key;
    proof.use(key);
  };
  return { clock, recorded, accounts, state, proof, options, use };
}

const mismatch = expect.objectContaining({ name: "Blocked", reason: "AccountMismatch" });

describe("a key", () => {
  it("needs no proof where nothing is recorded, and is proved by what is made then", async () => {
    const { proof, recorded, state, use } = scene({});
    use("mine");
    await proof.ensure();
    expect(proof.isProved).toBe(false);
    proof.recordFirstID(proof.epoch);
    recorded.get(ipPolicies)?.add("ipp_1");
    await proof.ensure();
    expect([proof.isProved, state.lists]).toEqual([true, 0]);
  });

  it("is proved by what is found before anything is recorded, unless another key is used since", async () => {
    const { proof, recorded, use } = scene({});
    const { epoch } = proof;
    use("mine");
    use("theirs");
    proof.recordFirstID(epoch);
    expect(proof.isProved).toBe(false);
    proof.recordFirstID(proof.epoch);
    recorded.get(ipPolicies)?.add("ipp_1");
    proof.assertHolds("theirs");
    expect(proof.isProved).toBe(true);
  });

  it("is proved no more when all that was recorded is gone and another key makes something", async () => {
    const { proof, recorded, use, state } = scene({});
    use("staging");
    proof.recordFirstID(proof.epoch);
    use("mine");
    proof.recordFirstID(proof.epoch);
    recorded.get(ipPolicies)?.add("ipp_1");
    use("staging");
    expect(proof.isProved).toBe(false);
    await expect(proof.ensure()).rejects.toEqual(mismatch);
    expect(state.lists).toBe(1);
  });

  it("stays proved beside another one of the same account when nothing is recorded any more", async () => {
    const { proof, recorded, use } = scene({ policies: ["ipp_1"] });
    await proof.ensure();
    use("rotated");
    proof.recordSeenIDs(["ipp_1"], proof.epoch);
    recorded.get(ipPolicies)?.clear();
    proof.recordFirstID(proof.epoch);
    use("mine");
    expect(proof.isProved).toBe(true);
  });

  it("that was read before another one is used sends no change, even if that one is proved", async () => {
    const { proof, use } = scene({ policies: ["ipp_1"] });
    await proof.ensure();
    use("theirs");
    use("mine");
    expect(() => proof.assertHolds("theirs")).toThrow(expect.objectContaining({ name: "Outdated" }));
    proof.assertHolds("mine");
  });

  it("is proved by one list that shows an id of any kind, once for all who ask", async () => {
    const { proof, state } = scene({ policies: ["ipp_1"], edges: ["edgtcp_1", "edgtcp_2"] });
    await Promise.all([proof.ensure(), proof.ensure()]);
    await proof.ensure();
    expect(state.lists).toBe(1);
  });

  it("is proved by another list where one cannot be read, and says why where none can", async () => {
    const failing = new Set([ipPolicies.name, tcpEdges.name]);
    const one = scene({ policies: ["ipp_1", "ipp_2"], edges: ["edgtcp_1"] });
    const readList: KeyProofOptions["readList"] = async ({ name }) => {
      if (failing.has(name)) throw new Error(`no list of ${name}`);
      one.proof.recordSeenIDs(["edgtcp_1"], one.proof.epoch);
    };
    const proof = new KeyProof({ ...one.options, readList });
    one.proof = proof;
    proof.use("mine");
    await expect(proof.ensure()).rejects.toThrow(`no list of ${ipPolicies.name}`);
    failing.delete(tcpEdges.name);
    await proof.ensure();
    expect(proof.isProved).toBe(true);
  });

  it("that is new changes nothing until an id answers under it, however few are recorded", async () => {
    const { proof, state, use, accounts } = scene({ policies: ["ipp_1"] });
    await proof.ensure();
    use("theirs");
    expect(() => proof.assertHolds("theirs")).toThrow(expect.objectContaining({ name: "Outdated" }));
    await expect(proof.ensure()).rejects.toEqual(mismatch);
    proof.recordFirstID(proof.epoch);
    expect(proof.isProved).toBe(false);
    expect([state.problems, state.changes]).toEqual([[true], 1]);
    accounts["theirs"]?.push("ipp_1");
    proof.recordSeenIDs(["ipp_1"], proof.epoch);
    await proof.ensure();
    expect(state.problems).toEqual([true, false]);
  });

  it("that replaces a wrong one is tried at once", async () => {
    const { proof, use, accounts } = scene({ policies: ["ipp_1"] });
    use("theirs");
    await expect(proof.ensure()).rejects.toEqual(mismatch);
    accounts["rotated"] = ["ipp_1"];
    use("rotated");
    await proof.ensure();
    expect(proof.isProved).toBe(true);
  });

  it("that was proved before is right again at once", async () => {
    const { proof, state, use } = scene({ policies: ["ipp_1"] });
    await proof.ensure();
    use("theirs");
    await expect(proof.ensure()).rejects.toEqual(mismatch);
    use("mine");
    proof.assertHolds("mine");
    expect([proof.problem, state.problems]).toEqual([undefined, [true, false]]);
  });

  it("is not proved by an answer to a request from before it was used", async () => {
    const { proof, use } = scene({ policies: ["ipp_1"] });
    await proof.ensure();
    const { epoch } = proof;
    use("theirs");
    proof.recordSeenIDs(["ipp_1"], epoch);
    expect(proof.isProved).toBe(false);
  });

  it.each([true, false])("that is the first of the process and shows nothing may be believed: %s", async (believed) => {
    const { proof, state, use } = scene({ policies: ["ipp_1"] }, { believesFirstKey: () => believed });
    state.key = "theirs";
    await proof.ensure().catch(() => undefined);
    expect(proof.isProved).toBe(believed);
    use("a third");
    await expect(proof.ensure()).rejects.toEqual(mismatch);
  });

  it("is tried again with growing delays, and costs nothing in between", async () => {
    const { proof, state, use, clock } = scene({ policies: ["ipp_1"] });
    await proof.ensure();
    use("theirs");
    for (let second = 0; second < 60; second += 1) {
      await proof.ensure().catch(() => undefined);
      await clock.advance(1000);
    }
    // lists at first, and then one remote after 2, 6, 14, 30 and 50 seconds
    expect([state.lists, state.reads]).toEqual([1 + 1, 5]);
  });

  it("is confirmed by a request that was made after the problem was told", async () => {
    const { proof, use } = scene({ policies: ["ipp_1"] });
    await proof.ensure();
    proof.confirm("before");
    use("theirs");
    await expect(proof.ensure()).rejects.toEqual(mismatch);
    expect(proof.problem?.message).toBe(
      "Check the API key: its account has none of the 1 remotes that objects stand for. If it is the right one, say so",
    );
    proof.confirm("before");
    proof.confirm(undefined);
    expect(proof.isProved).toBe(false);
    proof.confirm("after");
    await proof.ensure();
    expect(proof.isProved).toBe(true);
  });

  it("was accepted by the service as long as it is used, and for the time that is asked for", async () => {
    const { clock, proof, use } = scene({});
    expect(proof.wasAcceptedWithin(1000)).toBe(false);
    use("mine");
    proof.beginRequest()();
    await clock.advance(999);
    expect(proof.wasAcceptedWithin(1000)).toBe(true);
    await clock.advance(1);
    expect(proof.wasAcceptedWithin(1000)).toBe(false);
    const accepted = proof.beginRequest();
    use("theirs");
    accepted();
    expect(proof.wasAcceptedWithin(1000)).toBe(false);
    use("mine");
    expect(proof.wasAcceptedWithin(1000)).toBe(false);
  });
});
