import type { Arrow } from "../../tree/drawing.ts";
import type { Item } from "../../tree/items.ts";
import { type State, stateOf, states } from "../view/state.ts";
import { componentsOf } from "./layout.ts";
import { wordsOf } from "./svg.ts";

/** What a person wants to see, as it stands in the address. */
export interface Wish {
  text: string;
  kind: string;
  namespace: string;
  state: State | "";
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
    from: given("from"),
    isUp: given("up") === "1",
  };
}

export const isFiltered = ({ text, kind, namespace, state }: Wish): boolean =>
  Boolean(text || kind || namespace || state);

/** Whether a filter means this item. */
export const meantBy = (wish: Wish, clusterID: string | undefined) => {
  const wanted = wish.text.toLowerCase();
  return (item: Item): boolean => {
    const node = item.type === "node" ? item.node : undefined;
    const { kind, namespace } = { kind: node?.kind.kind, namespace: node?.object?.metadata.namespace };
    const state = node && stateOf(node, clusterID);
    const { name, about } = wordsOf(item);
    return (
      isLike(wish.kind, kind) &&
      isLike(wish.namespace, namespace) &&
      isLike(wish.state, state) &&
      `${name} ${about} ${node?.id ?? ""}`.toLowerCase().includes(wanted)
    );
  };
};

const isLike = (wanted: string, has: string | undefined): boolean => wanted === "" || wanted === has;

/** The items that are meant, and all that hang together with them. */
export function around(
  items: ReadonlyMap<string, Item>,
  arrows: readonly Arrow[],
  isMeant: (item: Item) => boolean,
): Map<string, Item> {
  const kept = componentsOf([...items.keys()], arrows)
    .filter(({ keys }) => keys.some((key) => isMeant(items.get(key) as Item)))
    .flatMap(({ keys }) => keys);
  return new Map(kept.map((key) => [key, items.get(key) as Item]));
}
