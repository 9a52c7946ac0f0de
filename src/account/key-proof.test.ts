import { describe, expect, it } from "vitest";
import { keyScene } from "../../test/fakes/account/key-scene.ts";
import { GatewayError } from "../gateway/errors.ts";
import { ipPolicies, tcpEdges } from "../gateway/resources/index.ts";
import { digestOf, KeyProof, type KeyProofOptions } from "./key-proof.ts";

const mismatch = expect.objectContaining({ name: "Blocked", reason: "AccountMismatch" });

const refusal = (status: number) =>
  new GatewayError({ kind: "refused", method: "GET", route: "/", status, problem: "no" });

describe("a key", () => {
  it("needs no proof while nothing is recorded, and is proved by the first create", async () => {
    const { proof, recorded, state, use } = keyScene({});
    use("mine");
    await proof().ensure();
    expect(proof().isProved).toBe(false);
    proof().recordFirstID();
    recorded.get(ipPolicies)?.add("ipp_1");
    await proof().ensure();
    expect([proof().isProved, state.lists]).toEqual([true, 0]);
  });

  it("is proved by the first remote that is found under it, and no other key is", async () => {
    const { proof, recorded, use } = keyScene({});
    use("mine");
    use("theirs");
    expect(proof().isProved).toBe(false);
    proof().recordFirstID();
    recorded.get(ipPolicies)?.add("ipp_1");
    proof().assertMayChange("theirs");
    use("mine");
    expect(proof().isProved).toBe(false);
  });

  it("is no longer proved when all recorded ids are gone and another key creates a remote", async () => {
    const { proof, recorded, use, state } = keyScene({});
    use("staging");
    proof().recordFirstID();
    use("mine");
    proof().recordFirstID();
    recorded.get(ipPolicies)?.add("ipp_1");
    use("staging");
    expect(proof().isProved).toBe(false);
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect(state.lists).toBe(1);
  });

  it("stays proved beside another key of the same account when nothing is recorded any more", async () => {
    const { proof, recorded, use } = keyScene({ policies: ["ipp_1"] });
    await proof().ensure();
    use("rotated");
    proof().recordSeenIDs(["ipp_1"]);
    recorded.get(ipPolicies)?.clear();
    proof().recordFirstID();
    use("mine");
    expect(proof().isProved).toBe(true);
  });

  it("sends no change when another key has come into use since it was read, even if that one is proved", async () => {
    const { proof, use } = keyScene({ policies: ["ipp_1"] });
    await proof().ensure();
    use("theirs");
    use("mine");
    expect(() => proof().assertMayChange("theirs")).toThrow(expect.objectContaining({ name: "Outdated" }));
    proof().assertMayChange("mine");
  });

  it("is proved once for all callers by one list that shows a recorded id of any kind", async () => {
    const { proof, state } = keyScene({ policies: ["ipp_1"], edges: ["edgtcp_1", "edgtcp_2"] });
    await Promise.all([proof().ensure(), proof().ensure()]);
    await proof().ensure();
    expect(state.lists).toBe(1);
  });

  it("is proved by another list when one cannot be read, and reports the error when none can", async () => {
    const failing = new Set([ipPolicies.name, tcpEdges.name]);
    const one = keyScene({ policies: ["ipp_1", "ipp_2"], edges: ["edgtcp_1"] });
    const readList: KeyProofOptions["readList"] = async ({ name }) => {
      if (failing.has(name)) throw new Error(`no list of ${name}`);
      proof.recordSeenIDs(["edgtcp_1"]);
    };
    const proof: KeyProof = new KeyProof({ ...one.options, readList });
    proof.use("mine");
    await expect(proof.ensure()).rejects.toThrow(`no list of ${ipPolicies.name}`);
    failing.delete(tcpEdges.name);
    await proof.ensure();
    expect(proof.isProved).toBe(true);
  });

  it("changes nothing while it is new, until a recorded id answers under it, however few are recorded", async () => {
    const { proof, state, use, accounts, clock } = keyScene({ policies: ["ipp_1"] });
    await proof().ensure();
    use("theirs");
    expect(() => proof().assertMayChange("theirs")).toThrow(expect.objectContaining({ name: "Outdated" }));
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect(proof().problem?.afterSeconds).toBe(20);
    proof().recordFirstID();
    expect(proof().isProved).toBe(false);
    await clock.advance(20_000);
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect([state.problems, state.keys]).toEqual([[true], 1]);
    accounts["theirs"]?.push("ipp_1");
    proof().recordSeenIDs(["ipp_1"]);
    await proof().ensure();
    expect(state.problems).toEqual([true, false]);
  });

  it("is tried at once when it replaces a wrong key", async () => {
    const { proof, state, use, accounts } = keyScene({ policies: ["ipp_1"] });
    use("theirs");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    use("as wrong");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect(state.problems).toEqual([true, true]);
    accounts["rotated"] = ["ipp_1"];
    use("rotated");
    await proof().ensure();
    expect([proof().isProved, proof().problem]).toEqual([true, undefined]);
  });

  it("counts again at once when it comes back after it was proved", async () => {
    const { proof, state, use } = keyScene({ policies: ["ipp_1"] });
    await proof().ensure();
    use("theirs");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    use("mine");
    proof().assertMayChange("mine");
    expect([proof().problem, state.problems]).toEqual([undefined, [true]]);
  });

  it("is that of its account for ever", () => {
    const proof = new KeyProof(keyScene({}).options);
    for (const digest of ["mine", "mine"]) proof.use(digest);
    expect(() => proof.use("theirs")).toThrow("another key is another account");
  });

  it.each([true, false])(
    "as the first of the process, is accepted although it shows nothing only if a person has confirmed it: %s",
    async (believed) => {
      const { proof, state, use } = keyScene({ policies: ["ipp_1"] }, { isConfirmed: believed });
      state.key = "theirs";
      await proof()
        .ensure()
        .catch(() => undefined);
      expect(proof().isProved).toBe(believed);
      use("a third");
      await expect(proof().ensure()).rejects.toEqual(mismatch);
    },
  );

  it("is tried again with growing delays, and costs no request in between", async () => {
    const { proof, state, use, clock } = keyScene({ policies: ["ipp_1"] });
    await proof().ensure();
    use("theirs");
    for (let second = 0; second < 60; second += 1) {
      await expect(proof().ensure()).rejects.toEqual(mismatch);
      await clock.advance(1000);
    }
    // lists at first, and then one remote after 2, 6, 14, 30 and 50 seconds
    expect([state.lists, state.reads]).toEqual([1 + 1, 5]);
  });

  it("is proved by another id when one cannot be read, and is tried no more often then", async () => {
    const one = keyScene({ policies: ["ipp_1", "ipp_2"] });
    const asked: [second: number, id: string][] = [];
    let showsOther = false;
    const readList = async () => {};
    const readOne: KeyProofOptions["readOne"] = async (_, id) => {
      asked.push([one.clock.now() / 1000, id]);
      if (id === "ipp_1")
        throw new GatewayError({ kind: "failed", method: "GET", route: "/", status: 500, problem: "no" });
      if (showsOther) proof.recordSeenIDs([id]);
    };
    const proof: KeyProof = new KeyProof({ ...one.options, readList, readOne });
    proof.use("mine");
    await expect(proof.ensure()).rejects.toEqual(mismatch);
    for (let second = 0; second < 60; second += 1) {
      await one.clock.advance(1000);
      await expect(proof.ensure()).rejects.toThrow();
    }
    expect(asked.slice(0, 4)).toEqual([
      [2, "ipp_1"],
      [6, "ipp_2"],
      [14, "ipp_1"],
      [30, "ipp_2"],
    ]);
    showsOther = true;
    await one.clock.advance(20_000);
    await proof.ensure().catch(() => undefined);
    await one.clock.advance(20_000);
    await proof.ensure();
    expect(proof.isProved).toBe(true);
  });

  it("is confirmed by a requested reconcile only if the request came after the report of the problem", async () => {
    const { proof, use } = keyScene({ policies: ["ipp_1"] });
    await proof().ensure();
    expect([proof().confirm("earlier"), proof().confirm("before")]).toEqual([false, false]);
    use("theirs");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect(proof().problem?.message).toBe(
      'Check the API key: its account does not show the one remote that objects stand for. If it is the right one, set the annotation reconcile-requested-at on GatewayAccount "staging"',
    );
    expect([proof().confirm("before"), proof().confirm(undefined), proof().isProved]).toEqual([false, false, false]);
    expect(proof().confirm("after")).toBe(true);
    await proof().ensure();
    expect(proof().isProved).toBe(true);
    // The account is another one from now on, so the former key is that of a wrong account.
    use("mine");
    expect(proof().isProved).toBe(false);
  });

  it("is accepted when other credentials have proved it, and no other key is", async () => {
    const { proof, state, use } = keyScene({ policies: ["ipp_1"] });
    use("theirs");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    proof().accept("another");
    expect([proof().isProved, state.problems]).toEqual([false, [true]]);
    proof().accept("theirs");
    expect([proof().isProved, proof().problem, state.problems]).toEqual([true, undefined, [true, false]]);
    use("another");
    expect(proof().isProved).toBe(true);
  });

  it("is recorded as soon as it is proved, and before a change that nothing recorded has to prove", async () => {
    const written: string[] = [];
    const record: KeyProofOptions["record"] = async (digest, { alone }) => void written.push(`${digest} ${alone}`);
    const one = keyScene({ policies: ["ipp_1"] }, { record });
    await one.proof().ensure();
    expect(written.splice(0)).toEqual(["mine false"]);
    await one.proof().ensureRecorded();
    expect(written).toEqual([]);
    const other = keyScene({}, { record });
    other.use("mine");
    await other.proof().ensure();
    expect(written).toEqual([]);
    await other.proof().ensureRecorded();
    expect(written).toEqual(["mine true"]);
  });

  it("is the same one with and without white space around it, which files often end with", () => {
    expect(digestOf(" key\n")).toBe(digestOf("key"));
    expect(digestOf("key")).not.toBe(digestOf("Key"));
    // another process has compared the same key, and a status has what was made from its digest
    expect(digestOf("key")).toBe("LHDhK3oGRvkiefQnx7OOczTY5Tic/xZ6HcMOc/gmtoM=");
  });

  it.each([
    ["a list", { policies: ["ipp_1", "ipp_2"], edges: ["edgtcp_1"] }],
    ["a module", { oidc: ["edghts_1/a", "edghts_1/b"], edges: ["edgtcp_1"] }],
  ])("that may not read %s is proved by another one, and is wrong if nothing proves it", async (_, given) => {
    const one = keyScene(given);
    const readable = new Set(["edgtcp_1", "edghts_1/b"]);
    const read = (id: string) => {
      if (!readable.has(id)) throw refusal(403);
      present.recordSeenIDs([id]);
    };
    const ids: Record<string, string> = { [tcpEdges.name]: "edgtcp_1", [ipPolicies.name]: "ipp_1" };
    const readList: KeyProofOptions["readList"] = async ({ name }) => read(ids[name] ?? "");
    const readOne: KeyProofOptions["readOne"] = async (_source, id) => read(id);
    let present = new KeyProof({ ...one.options, readList, readOne });
    present.use("mine");
    await present.ensure();
    expect(present.isProved).toBe(true);
    readable.clear();
    present = new KeyProof({ ...one.options, readList, readOne });
    present.use("mine");
    await expect(present.ensure()).rejects.toEqual(mismatch);
    // The next attempt reads one remote, which is forbidden too.
    await one.clock.advance(2000);
    await expect(present.ensure()).rejects.toEqual(mismatch);
  });

  it("is looked for in all lists after another wrong key, but not in the list that was just read", async () => {
    const given = { policies: ["ipp_1", "ipp_2"], edges: ["edgtcp_1"] };
    const { proof, state, use, accounts } = keyScene(given);
    use("theirs");
    await expect(proof().ensure(ipPolicies)).rejects.toEqual(mismatch);
    expect([state.lists, state.reads]).toEqual([1, 0]);
    accounts["rotated"] = ["ipp_2"];
    use("rotated");
    await proof().ensure();
    expect([proof().isProved, state.lists, state.reads]).toEqual([true, 2, 0]);
  });

  it("needs no proof any more when the last recorded id goes during the attempt", async () => {
    const one = keyScene({ policies: ["ipp_1"] });
    const readList = async () => void one.recorded.clear();
    const proof = new KeyProof({ ...one.options, readList });
    proof.use("theirs");
    await proof.ensure();
    expect([proof.isProved, proof.problem, one.state.problems]).toEqual([false, undefined, []]);
  });

  it("that is known from the start is proved without a request", async () => {
    const { proof, state, use } = keyScene({ policies: ["ipp_1"] }, { proved: ["mine"] });
    use("mine");
    await proof().ensure();
    proof().assertMayChange("mine");
    expect([state.lists, state.reads]).toEqual([0, 0]);
  });
});
