import * as z from "zod";
import { sshCredentials } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { immutable, matching, ownerId, setOf, sshPublicKey, texts } from "../schema/fields.ts";
import { bindRule } from "../schema/hosts.ts";
import { text } from "../schema/status.ts";
import { mark } from "../schema/traits.ts";

const rule = matching(
  z.string().max(512),
  // the page says nothing of what is in a label
  /^(\*|bind:([^\s\p{Cc}=]+|[^\p{Cc}=]*=\P{Cc}*))$/u,
  "must be * or bind:<target>, such as bind:*.example.com or bind:app=web, without white space in a host",
).describe("`*` permits everything. `bind:<target>` permits one domain, address or label, which may have a wildcard.");

export const SSHCredential = defineKind({
  kind: "SSHCredential",
  shortNames: ["gwssh"],
  categories: ["tunnelgateway-access"],
  privilege: "A key that may bind any address of the account.",
  summary: "A public key with which an agent signs on over SSH.",
  resource: sshCredentials,
  spec: z.object({
    ...texts,
    publicKey: immutable(sshPublicKey).describe("Public key of the SSH key pair, in authorized-keys format."),
    acl: mark(z.array(rule).max(128), { normalize: setOf(bindRule) })
      .optional()
      .describe("What the credential may bind. Unset: everything."),
    ownerId: immutable(ownerId).optional(),
  }),
  status: z.object({ ownerId: text("User or bot that owns the credential.") }),
  columns: [textColumn("ACL", { width: 40, value: ({ spec }) => spec["acl"] })],
});
