import { describe, expect, it } from "vitest";
import { keyScene } from "../../test/fakes/account/key-scene.ts";
import { ipPolicies } from "../gateway/resources/index.ts";
import { KeyProof, type KeyProofOptions } from "./key-proof.ts";

const mismatch = expect.objectContaining({ name: "Blocked", reason: "AccountMismatch" });

describe("a key of an account where no list shows what is recorded", () => {
  it("is proved by one module", async () => {
    const { proof, asked, state } = keyScene({ oidc: ["edghts_1/edghtsrt_1"] });
    await proof().ensure();
    await proof().ensure();
    expect([proof().isProved, state.lists, asked]).toEqual([true, 0, ["route_oidc edghts_1/edghtsrt_1"]]);
  });

  it("is proved by a list where one shows something", async () => {
    const { proof, asked, state } = keyScene({ oidc: ["edghts_1/edghtsrt_1"], edges: ["edgtcp_1"] });
    await proof().ensure();
    expect([proof().isProved, state.lists, asked]).toEqual([true, 1, []]);
  });

  it("is proved by a module when what lists show is gone", async () => {
    const { proof, accounts, state } = keyScene({ oidc: ["edghts_1/edghtsrt_1"], edges: ["edgtcp_1"] });
    accounts["mine"] = ["edghts_1/edghtsrt_1"];
    await proof().ensure();
    expect([proof().isProved, state.lists, state.reads]).toEqual([true, 1, 1]);
  });

  it("is proved by a remote whose list always fails, with three requests for each attempt at most", async () => {
    const policies = ["ipp_1", "ipp_2", "ipp_3", "ipp_4"];
    const { options, accounts, asked, state } = keyScene({ policies });
    accounts["mine"] = ["ipp_4"];
    const readList: KeyProofOptions["readList"] = async () => {
      throw new Error("503");
    };
    const readOne: KeyProofOptions["readOne"] = async ({ name }, id) => {
      state.reads += 1;
      asked.push(`${name} ${id}`);
      if (accounts["mine"]?.includes(id)) proof.recordSeenIDs([id]);
    };
    const proof: KeyProof = new KeyProof({ ...options, readList, readOne });
    proof.use("mine");
    await expect(proof.ensure()).rejects.toThrow("503");
    expect([proof.isProved, state.reads]).toEqual([false, 3]);
    await proof.ensure();
    expect([proof.isProved, asked.at(-1)]).toEqual([true, `${ipPolicies.name} ipp_4`]);
  });

  it("costs a few requests at once, of different remotes, and then one for each attempt", async () => {
    const ids = ["a", "b", "c", "d"].map((id) => `edghts_1/${id}`);
    const { proof, asked, clock, use } = keyScene({ oidc: ids.slice(0, 2), saml: ids });
    use("theirs");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect(asked.splice(0)).toEqual(["route_saml edghts_1/a", "route_saml edghts_1/b", "route_saml edghts_1/c"]);
    expect(proof().problem?.message).toContain("none of the 4 remotes");
    for (let second = 0; second < 14; second += 1) {
      await clock.advance(1000);
      await expect(proof().ensure()).rejects.toEqual(mismatch);
    }
    expect(asked).toEqual(["route_saml edghts_1/a", "route_saml edghts_1/b", "route_saml edghts_1/c"]);
  });

  it("is asked by another module of a remote too", async () => {
    const { proof, asked, use } = keyScene({ oidc: ["edghts_1/a"], saml: ["edghts_1/a"] });
    use("theirs");
    await expect(proof().ensure()).rejects.toEqual(mismatch);
    expect(asked).toEqual(["route_oidc edghts_1/a", "route_saml edghts_1/a"]);
  });

  it("is proved although one module cannot be read, and the error is reported when none can", async () => {
    const one = keyScene({ oidc: ["edghts_1/a", "edghts_1/b"] });
    let failing = ["edghts_1/a", "edghts_1/b"];
    const readOne: KeyProofOptions["readOne"] = async (_, id) => {
      if (failing.includes(id)) throw new Error(`no module of ${id}`);
      proof.recordSeenIDs([id]);
    };
    const proof: KeyProof = new KeyProof({ ...one.options, readOne });
    proof.use("mine");
    await expect(proof.ensure()).rejects.toThrow("no module of edghts_1/a");
    failing = ["edghts_1/a"];
    await proof.ensure();
    expect(proof.isProved).toBe(true);
  });

  it("that an earlier process has recorded is believed without a request", async () => {
    const { proof, asked, use } = keyScene({ oidc: ["edghts_1/a"] }, { wasRecorded: async () => "recorded" });
    use("theirs");
    await proof().ensure();
    expect([proof().isProved, asked]).toEqual([true, []]);
  });
});
