import { defineCollection } from "../resource/collection.ts";
import { sshPublicKey } from "../shape/names.ts";
import { owner } from "../shape/references.ts";
import { list, matching } from "../shape/scalars.ts";
import { texts } from "../shape/texts.ts";

const rule = matching(/^(bind:\S+|\*)$/, "bind:<target> or *");

export const sshCredentials = defineCollection({
  name: "ssh_credentials",
  prefix: "sshcr",
  unset: ["empty", "empty"],
  fields: {
    ...texts,
    public_key: { check: sshPublicKey, required: true, createOnly: true },
    acl: { check: list(rule), initial: [] },
    owner_id: { check: owner, createOnly: true, initial: "usr_simulator" },
  },
});
