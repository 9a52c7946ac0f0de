import type { Settings } from "../settings.ts";
import type { Members } from "../shape/members.ts";
import type { Collection, Links, Row, Unset } from "./collection.ts";
import type { Store } from "./store.ts";

/** How answers show rows to a caller who reached the service at `origin`. */
export interface View extends Links {
  show(row: Row): Members;
}

export function viewOf(
  store: Store,
  origin: string,
  { echo, unanswered }: Pick<Settings, "echo" | "unanswered">,
): View {
  const view: View = {
    origin,
    ref(id) {
      const row = store.find(id);
      return row ? { id: row.id, uri: `${origin}/${row.collection.name}/${row.id}` } : null;
    },
    refs: (ids) => ((ids ?? []) as unknown[]).map((id) => view.ref(id)).filter((ref) => ref !== null),
    show(row) {
      const members = { ...show(row, view), ...(echo && echoOf(row)) };
      return without(members, unanswered);
    },
  };
  return view;
}

export const without = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));

/** All that was sent for a row, in a member that the API page does not have. */
export const echoOf = ({ members }: Row): Members => ({ x_echo: JSON.stringify(members) });

function show({ id, createdAt, collection, members }: Row, view: View): Members {
  const { description: _, metadata: __, ...rest } = members;
  return {
    id,
    uri: `${collection.uri === "path" ? "" : view.origin}/${collection.name}/${id}`,
    ...(!collection.undated && { created_at: createdAt }),
    ...texts(collection, members),
    ...(collection.show ? collection.show(rest, view, id) : rest),
    x_future: "a member that no description of the service mentions yet",
  };
}

function texts({ unset }: Collection, members: Members): Members {
  if (!unset) return members.metadata === undefined ? {} : { metadata: members.metadata };
  return { ...text("description", members, unset[0]), ...text("metadata", members, unset[1]) };
}

function text(name: string, members: Members, unset: Unset): Members {
  if (members[name]) return { [name]: members[name] };
  if (unset === "missing") return {};
  return { [name]: unset === "null" ? null : "" };
}
