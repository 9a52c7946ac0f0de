import { keyOf, toJSON } from "../graph/output.ts";
import { drawingOf } from "./drawing.ts";
import { type Forest, itemKey, modulesOf } from "./items.ts";

/** Everything in a forest, each once, for programs. */
export function nodesOf(forest: Forest): object[] {
  const { items, arrows } = drawingOf(forest);
  const above = Map.groupBy(arrows, ({ to }) => to);
  return items.flatMap((item): object[] => {
    const key = itemKey(item);
    const parents = (above.get(key) ?? []).map(({ from }) => from).sort();
    switch (item.type) {
      case "node": {
        const { uses, usedBy, ...node } = toJSON(item.node);
        const modules = modulesOf(item.node).map(({ name, isOn, uses }) => ({ name, isOn, uses: uses.map(keyOf) }));
        const below = forest.below(item);
        const parts = below.filter(({ type }) => type === "part").map(itemKey);
        const sessions = below.filter(({ type }) => type === "session").map(itemKey);
        const more = { uses: [...uses, ...parts], usedBy: [...usedBy, ...sessions] };
        return [{ ...node, ...more, ...(modules.length > 0 && { modules }) }];
      }
      case "part":
        return [{ key, kind: item.kind, id: item.id, inAccount: true, uses: [], usedBy: parents }];
      case "session":
        return [{ key, kind: "TunnelSession", id: item.session.id, inAccount: true, uses: parents, usedBy: [] }];
      case "credential": {
        const { credential: id } = item.group;
        const sessions = forest.below(item).map(itemKey);
        return [{ key, kind: "Credential", ...(id && { id }), inAccount: id !== "", uses: [], usedBy: sessions }];
      }
      default:
        return [];
    }
  });
}
