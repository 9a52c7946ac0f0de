import { invalid } from "../http/refusal.ts";
import { type CollectionContext, defineCollection } from "../resource/collection.ts";
import type { Members } from "../shape/members.ts";
import { sshKeyType, sshPublicKey, timestamp } from "../shape/names.ts";
import { foreign } from "../shape/references.ts";
import { list, nonEmpty } from "../shape/scalars.ts";
import { texts } from "../shape/texts.ts";
import { days, stamp } from "../shape/time.ts";

function sign(members: Members, { clock }: CollectionContext): Members {
  const after = String(members.valid_after ?? stamp(clock()));
  const until = String(members.valid_until ?? stamp(clock() + days(365)));
  if (Date.parse(until) <= Date.parse(after)) throw invalid("valid_until: must be after valid_after");
  const key = String(members.public_key);
  const signed = Buffer.from(JSON.stringify([key, members.principals, after, until])).toString("base64");
  return {
    valid_after: after,
    valid_until: until,
    key_type: sshKeyType(key),
    certificate: `${key.split(" ")[0]}-cert-v01@openssh.com ${signed}`,
  };
}

export const sshHostCertificates = defineCollection({
  name: "ssh_host_certificates",
  prefix: "shcrt",
  unset: ["null", "empty"],
  nextPage: "path",
  fields: {
    ...texts,
    ssh_certificate_authority_id: { check: foreign("sshca"), required: true, createOnly: true },
    public_key: { check: sshPublicKey, required: true, createOnly: true },
    principals: { check: list(nonEmpty), createOnly: true, initial: [] },
    valid_after: { check: timestamp, createOnly: true },
    valid_until: { check: timestamp, createOnly: true },
  },
  compute: sign,
});
