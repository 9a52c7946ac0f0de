import * as z from "zod";
import { sshCredentials } from "../gateway/resources/index.ts";
import { defineKind } from "../schema/define.ts";
import { immutable, ownerId, sshPublicKey, texts, unordered } from "../schema/fields.ts";
import { mark } from "../schema/traits.ts";

const rule = z
  .string()
  .max(512)
  .regex(/^(\*|bind:.+)$/)
  .describe("`*` permits everything. `bind:<target>` permits one domain, address or label, which may have a wildcard.");

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
    acl: mark(z.array(rule).max(128), { normalize: unordered })
      .optional()
      .describe("What the credential may bind. Unset: everything."),
    ownerId: immutable(ownerId).optional(),
  }),
  columns: [{ name: "ACL", jsonPath: ".spec.acl" }],
});
