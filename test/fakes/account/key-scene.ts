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
  const state = { key: "mine", lists: 0, reads: 0, problems: [] as boolean[], keys: 0 };
  const asked: string[] = [];
  const proved = new Set(more.proved);
  const options: KeyProofOptions = {
    clock,
    recorded: () => new Map([...recorded].filter(([, { size }]) => size > 0)),
    confirmedOn: () => "staging",
    readList: async () => {
      state.lists += 1;
      use(state.key);
      proof().recordSeenIDs(accounts[state.key]?.filter((id) => !id.includes("/")) ?? []);
    },
    readOne: async ({ name }, id) => {
      state.reads += 1;
      asked.push(`${name} ${id}`);
      use(state.key);
      if (accounts[state.key]?.includes(id)) proof().recordSeenIDs([id]);
    },
    onProblem: (exists) => state.problems.push(exists),
    ...more,
    onAlone: () => proved.clear(),
  };
  let used: string | undefined;
  let present = new KeyProof({ ...options, proved });
  /** The proof of the key in use. */
  const proof = (): KeyProof => present;
  /** Another key is another account, which begins with what is known of keys. */
  const use = (key: string) => {
    state.key = key;
    if (used !== undefined && used !== key) {
      if (options.recorded().size > 0) for (const one of present.proved) proved.add(one);
      present = new KeyProof({ ...options, isConfirmed: false, proved });
      state.keys += 1;
    }
    used = key;
    present.use(key);
  };
  return { clock, recorded, accounts, state, asked, proof, options, use };
}
