import { credentialsOf } from "../../graph/accounts.ts";
import type { Node } from "../../graph/graph.ts";
import { reachedFrom } from "../../graph/reached.ts";
import type { Arrow } from "../../tree/drawing.ts";
import type { Item } from "../../tree/items.ts";
import type { View } from "../reading/view.ts";
import { type State, stateOf, states } from "../view/state.ts";
import { wordsOf } from "./svg.ts";

/** What a person wants to see, as it stands in the address. */
export interface Wish {
  text: string;
  kind: string;
  namespace: string;
  state: State | "";
  /** `<namespace>/<name>` of a GatewayAccount, or `OWN`. */
  account: string;
  /** Key of the node from which to follow. */
  from: string;
  isUp: boolean;
}

export function wishIn({ searchParams }: URL): Wish {
  const given = (name: string) => searchParams.get(name) ?? "";
  const state = given("state");
  return {
    text: given("text"),
    kind: given("kind"),
    namespace: given("namespace"),
    state: state in states ? (state as State) : "",
    account: given("account"),
    from: given("from"),
    isUp: given("up") === "1",
  };
}

export const isFiltered = ({ text, kind, namespace, state, account }: Wish): boolean =>
  Boolean(text || kind || namespace || state || account);

/** In an address: the account of the operator's own credentials, which has no name. */
export const OWN = "operator";

/** The accounts that a node is in, by their credentials. A remote without an object is in the account that was read. */
function accountsOf({ object }: Node, { read, account }: Pick<View, "read" | "account">): readonly string[] {
  const names = object ? [credentialsOf(object, read.defaults)] : [...(account.found?.sharers.names ?? [])];
  return names.map((name) => name || OWN);
}

/** Whether a filter means this item. */
export const meantBy = (wish: Wish, view: Pick<View, "clusterID" | "read" | "account">) => {
  const wanted = wish.text.toLowerCase();
  return (item: Item): boolean => {
    const node = item.type === "node" ? item.node : undefined;
    const { kind, namespace } = { kind: node?.kind.kind, namespace: node?.object?.metadata.namespace };
    const state = node && stateOf(node, view.clusterID);
    const { name, about } = wordsOf(item);
    return (
      isLike(wish.kind, kind) &&
      isLike(wish.namespace, namespace) &&
      isLike(wish.state, state) &&
      (wish.account === "" || (node && accountsOf(node, view).includes(wish.account)) === true) &&
      [name, about, ...(node ? namesIn(node) : [])].join(" ").toLowerCase().includes(wanted)
    );
  };
};

/** By what people know it besides its name: its id, and the hosts and addresses at which it is reached. */
function namesIn({ kind: { address = "" }, object, remote, id = "" }: Node): string[] {
  const seen = [remote, object?.status, object?.spec] as (Readonly<Record<string, unknown>> | undefined)[];
  return [id, ...seen.flatMap((one) => [one?.[address] ?? [], one?.["hostports"] ?? []].flat().map(String))];
}

const isLike = (wanted: string, has: string | undefined): boolean => wanted === "" || wanted === has;

/** The items that are meant, with what leads to them and what they lead to. */
export function around(
  items: ReadonlyMap<string, Item>,
  arrows: readonly Arrow[],
  isMeant: (item: Item) => boolean,
): Map<string, Item> {
  const meant = [...items].flatMap(([key, item]) => (isMeant(item) ? key : []));
  const [after, before] = [Map.groupBy(arrows, ({ from }) => from), Map.groupBy(arrows, ({ to }) => to)];
  const below = reachedFrom(meant, (key) => after.get(key)?.map(({ to }) => to) ?? []);
  const above = reachedFrom(meant, (key) => before.get(key)?.map(({ from }) => from) ?? []);
  return new Map([...items].filter(([key]) => below.has(key) || above.has(key)));
}
