import { defineResource } from "../resource.ts";
import { answer, common, text, texts } from "../wire.ts";

/** Without `acl` there are no restrictions. */
export const sshCredentials = defineResource({
  name: "ssh_credentials",
  title: "SSH credential",
  idPrefix: "sshcr_",
  wire: answer({ ...common, public_key: text, acl: texts, owner_id: text }),
  create: ["description", "metadata", "acl", "public_key", "owner_id"],
  update: ["description", "metadata", "acl"],
});

/** Without `principals` the certificate is valid for all hosts. By default it is valid for one year. */
export const sshHostCertificates = defineResource({
  name: "ssh_host_certificates",
  title: "SSH host certificate",
  idPrefix: "shcrt_",
  wire: answer({
    ...common,
    ssh_certificate_authority_id: text,
    public_key: text,
    principals: texts,
    valid_after: text,
    valid_until: text,
    key_type: text,
    certificate: text,
  }),
  create: [
    "ssh_certificate_authority_id",
    "public_key",
    "principals",
    "valid_after",
    "valid_until",
    "description",
    "metadata",
  ],
  update: ["description", "metadata"],
});
