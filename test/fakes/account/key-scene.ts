import { KeyProof, type KeyProofOptions } from "../../../src/account/key-proof.ts";
import { ipPolicies, routeOidc, routeSaml, tcpEdges } from "../../../src/gateway/resources/index.ts";
import type { Source } from "../../../src/objects/evidence.ts";
import { VirtualClock } from "../runtime/virtual-clock.ts";

/** Accounts by their keys: the ids that each shows. `given` has the ids that objects have. */
export function keyScene(given: Record<string, string[]>, more: Partial<KeyProofOptions> = {}) {
  const clock = new VirtualClock();
  const recorded = new Map<Source, Set<string>>([
    [routeOidc, new Set(given["oidc"] ?? [])],
    [routeSaml, new Set(given["saml"] ?? [])],
    [ipPolicies, new Set(given["policies"] ?? [])],
    [tcpEdges, new Set(given["edges"] ?? [])],
  ]);
  const accounts: Record<string, string[]> = { mine: [...recorded.values()].flatMap((ids) => [...ids]), theirs: [] };
  const state = { key: "mine", lists: 0, reads: 0, problems: [] as boolean[], changes: 0 };
  const asked: string[] = [];
  const options: KeyProofOptions = {
    clock,
    recorded: () => new Map([...recorded].filter(([, { size }]) => size > 0)),
    wayOut: () => "say so",
    readList: async () => {
      state.lists += 1;
      proof.use(state.key);
      const listed = accounts[state.key]?.filter((id) => !id.includes("/"));
      proof.recordSeenIDs(listed ?? [], proof.epoch);
    },
    readOne: async ({ name }, id) => {
      state.reads += 1;
      asked.push(`${name} ${id}`);
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
  return { clock, recorded, accounts, state, asked, proof, options, use };
}
