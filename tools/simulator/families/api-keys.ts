import { defineCollection } from "../resource/collection.ts";
import { owner } from "../shape/references.ts";
import { texts } from "../shape/texts.ts";

export const apiKeys = defineCollection({
  name: "api_keys",
  prefix: "ak",
  listKey: "keys",
  unset: ["empty", "missing"],
  fields: { ...texts, owner_id: { check: owner, createOnly: true, initial: "usr_simulator" } },
  compute: (_, { random }) => ({ token: `${random.text(27)}_${random.text(21)}` }),
  changed(row, before, { keyring }) {
    if (!before) keyring.accept(String(row.members.token));
  },
  removed: (row, { keyring }) => keyring.revoke(String(row.members.token)),
  show: (members) => ({ ...members, token: null }),
  showOnce: ({ members }) => ({ token: members.token }),
});
