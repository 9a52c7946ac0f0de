import * as z from "zod";
import { columnsField, message } from "../schema/columns.ts";
import { age, conditionFields, initialStatus, lastHandledReconcileAt, ready, reason } from "../schema/common.ts";
import { ACCOUNT_KIND } from "../schema/contract.ts";
import { type Column, defineCustomResource } from "../schema/define.ts";
import { matching, secretKey } from "../schema/fields.ts";
import { URL_HOST } from "../schema/hosts.ts";

const columns: readonly Column[] = [
  { name: "URL", jsonPath: ".status.baseURL", width: 40 },
  ready,
  reason,
  age,
  message,
];

export const GatewayAccount = defineCustomResource({
  kind: ACCOUNT_KIND,
  shortNames: ["gwacct"],
  privilege: "Whose account the objects of the namespace go to.",
  // get: whether a namespace has one, before its watch tells
  access: ["get", "list", "watch", "patch"],
  summary:
    "Credentials of one account of the service. Objects name it with `accountRef`; the one called `default` serves " +
    "all objects of its namespace that name none. Objects without one use the operator's own credentials. " +
    "Credentials with the same base URL and key are one account.",
  spec: z.object({
    apiKeySecretRef: secretKey("the API key", { sends: "" }),
    baseURL: matching(
      z.string().max(512),
      new RegExp(`^https?://${URL_HOST}(/[^\\s?#]*)?$`),
      "must be a URL that begins with https://, with a host and no port over 65535, without a user, ? and #",
    )
      .optional()
      .describe(
        "Base address of the management API. Default: the operator's own; others must be allowed by the operator.",
      ),
    tunnelSessions: z
      .enum(["Ignore", "Mirror"])
      .optional()
      .describe(
        "Mirror: the tunnel sessions of this account are shown as TunnelSession objects in this namespace, and an " +
          "AgentCommand here can command their agents. Default: Ignore.",
      ),
  }),
  rules: [
    {
      rule: "!has(self.baseURL) || self.baseURL.startsWith('https://') || self.baseURL.matches('^http://(localhost|127[.][0-9.]+|[[]::1[]])(:[0-9]+)?(/.*)?$')",
      message: "must begin with https:// unless the host is loopback: the API key would travel in the clear",
      fieldPath: ".baseURL",
      holds: ({ baseURL = "https://" }: { baseURL?: string }) =>
        baseURL.startsWith("https://") || /^http:\/\/(localhost|127[.][0-9.]+|\[::1\])(:[0-9]+)?(\/.*)?$/.test(baseURL),
    },
  ],
  status: z.object({
    baseURL: z
      .string()
      .optional()
      .describe("Base address in use. Absent while the operator does not allow the one in the spec."),
    secretName: z.string().optional().describe("Secret that is kept, by a finalizer, while objects need the key."),
    keyDigests: z
      .array(z.string())
      .optional()
      .describe(
        "Digests of the API keys that are known to lead to this account, made with a secret of the operator. The last " +
          "one was added last.",
      ),
    lastHandledReconcileAt,
    ...conditionFields,
    columns: columnsField(columns),
  }),
  initialStatus: initialStatus(columns),
  columns,
  conditions: ["Ready", "Synced", "Reconciling", "Stalled", "CertificateReady", "AnnotationsValid"],
  // for the finalizer that keeps the Secret as long as objects need its key
  secretAccess: ["patch"],
});
