import * as z from "zod";
import {
  certificateAuthorities,
  eventDestinations,
  eventSubscriptions,
  failoverBackends,
  httpResponseBackends,
  ipPolicies,
  tlsCertificates,
  tunnelGroupBackends,
  weightedBackends,
} from "../gateway/resources/index.ts";
import { OWNER_KEY } from "./contract.ts";
import { withArticle } from "./nouns.ts";
import { has, hasOneOf, type Members } from "./rules.ts";
import { type ModuleTrait, mark, type Rule, type SecretNameTrait, type Traits } from "./traits.ts";

/**
 * A string of at most `max` bytes in UTF-8. Only for limits that the service gives in bytes: OpenAPI counts characters.
 */
export const bytes = (max: number, minLength = 0) =>
  mark(minLength > 0 ? z.string().min(minLength).max(max) : z.string().max(max), {
    rules: [
      {
        rule: `size(bytes(self)) <= ${max}`,
        message: `must be at most ${max} bytes (UTF-8)`,
        holds: (self: string) => Buffer.byteLength(self) <= max,
      },
    ],
  });

/**
 * A string of this form. `message` says in words what is expected: without it, the API server shows only the regular
 * expression. The pattern has to mean the same in RE2: `[^\n]` in place of a dot, and `\s` between brackets.
 */
export const matching = (schema: z.ZodString, pattern: RegExp, message: string) =>
  mark(schema.regex(pattern), { rules: [form(pattern, message)] });

/** White space as JavaScript knows it, which is more than `\s` of RE2. */
const SPACES = "\\t-\\r\\p{Z}\\x{feff}";

function inRE2({ source }: RegExp): string {
  const outside = source.replaceAll(/\[(\\.|[^\]\\])+\]/g, "");
  if (/(^|[^\\])\.|\\[swdb]/i.test(outside)) throw new TypeError(`means something else in RE2: ${source}`);
  return source.replaceAll("\\/", "/").replaceAll("\\s", SPACES);
}

/** The rule that a text has this form, for a pattern that may be one of several. */
export const form = (pattern: RegExp, message: string): Rule => ({
  rule: `self.matches(${JSON.stringify(inRE2(pattern))})`,
  message,
  holds: (self: string) => pattern.test(self),
});

/** A map whose keys have this form. The API server knows no other rule for keys. */
export const withKeys = <R extends z.ZodRecord>(record: R, pattern: RegExp, message: string): R =>
  mark(record, {
    rules: [
      {
        rule: `self.all(key, key.matches(${JSON.stringify(inRE2(pattern))}))`,
        message,
        holds: (self: object) => Object.keys(self).every((key) => pattern.test(key)),
      },
    ],
  });

const days = [
  "[0-9]{4}-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])",
  "[0-9]{4}-(0[469]|11)-(0[1-9]|[12][0-9]|30)",
  "[0-9]{4}-02-(0[1-9]|1[0-9]|2[0-8])",
  "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29",
];
const minutes = "([01][0-9]|2[0-3]):[0-5][0-9]";

/** A time in RFC 3339. */
export const instant = mark(z.iso.datetime({ offset: true }).max(40), {
  rules: [
    form(
      new RegExp(`^(${days.join("|")})T${minutes}:[0-5][0-9]([.][0-9]+)?(Z|[+-]${minutes})$`),
      "must be a time in RFC 3339, such as 2030-01-31T12:00:00Z",
    ),
  ],
});

export const description = bytes(255).optional().describe("What the resource is for. At most 255 bytes.");

export const metadata = mark(bytes(4096), { normalize: jsonValue })
  .optional()
  .describe(
    "Any text of yours, at most 4096 bytes. When it is unset or a JSON object, the operator adds one key to what " +
      "it sends, `tunnelgateway.dev/owner`, to find the resource again.",
  );

/** The two texts that nearly every resource has. The service counts their bytes. */
export const texts = { description, metadata };

/** The same texts, for resources whose limit the service counts in characters. */
export const textsInCharacters = {
  description: z.string().max(255).optional().describe("What the resource is for. At most 255 characters."),
  metadata: mark(z.string().max(4096), { normalize: jsonValue })
    .optional()
    .describe(
      "Any text of yours, at most 4096 characters. When it is unset or a JSON object, the operator adds one key to " +
        "what it sends, `tunnelgateway.dev/owner`, to find the resource again.",
    ),
};

/** Accepted on create only. The API server refuses a later change, with a message that says what to do instead. */
export const immutable = <S extends z.ZodType>(schema: S): S => mark(schema, { immutable: true });

/** Every module has this field: a user can switch the module off without losing its settings. */
export const enabled = z.boolean().default(true).describe("Whether the module applies to traffic. Default: true.");

/** A part of a resource that the spec may leave out. */
export const module = <S extends z.ZodObject>(schema: S, trait: ModuleTrait) =>
  mark(schema, { module: trait }).optional();

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

/** What the name of an object in Kubernetes looks like, for a pattern. */
export const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;

/** The name of an object in Kubernetes. */
export const objectName = matching(
  z.string().min(1).max(253),
  new RegExp(`^${SUBDOMAIN}$`),
  "must be a name in Kubernetes: lower-case letters, digits, - and ., with a letter or digit at both ends and beside each .",
);

/** The resources that references name. */
const referable: Readonly<Record<string, { idPrefix: string }>> = {
  CertificateAuthority: certificateAuthorities,
  EventDestination: eventDestinations,
  EventSubscription: eventSubscriptions,
  FailoverBackend: failoverBackends,
  HTTPResponseBackend: httpResponseBackends,
  IPPolicy: ipPolicies,
  TLSCertificate: tlsCertificates,
  TunnelGroupBackend: tunnelGroupBackends,
  WeightedBackend: weightedBackends,
};

/** An id that begins with one of these. */
export const idWith = (prefixes: readonly string[]) =>
  matching(
    z.string().min(1).max(128),
    new RegExp(`^(${prefixes.join("|")})[A-Za-z0-9_]+$`),
    `must be an id that begins with ${prefixes.join(" or ")}`,
  );

const remoteID = (kinds: readonly string[]) =>
  idWith(kinds.flatMap((kind) => referable[kind]?.idPrefix ?? []))
    .optional()
    .describe("Remote id of a resource that is not managed by an object here.");

const exactlyOne: Rule = {
  rule: "has(self.name) != has(self.id)",
  message: "must give exactly one of `name` (an object in this namespace) and `id` (a remote id)",
  holds: hasOneOf("name", "id"),
};

/** `byID`: the request takes the remote's id, so users may give the id in place of an object's name. */
function target(kinds: readonly string[], byID: boolean): z.ZodObject {
  const [only] = kinds;
  const about = `Name of ${withArticle(kinds.join(" or "))} in this namespace.`;
  if (!byID) return z.object({ name: objectName.describe(about) });
  const name = objectName.optional().describe(about);
  const id = remoteID(kinds);
  if (kinds.length === 1 && only) return mark(z.object({ name, id }), { rules: [exactlyOne] });
  const kind = z
    .enum(kinds as [string, ...string[]])
    .optional()
    .describe("Kind of the object that `name` names.");
  return mark(z.object({ kind, name, id }), {
    rules: [
      exactlyOne,
      {
        rule: "has(self.kind) == has(self.name)",
        message: "must give `kind` beside `name`, and only then",
        holds: (self: Members) => has(self, "kind") === has(self, "name"),
      },
    ],
  });
}

type Wiring = Pick<Traits, "sends" | "returns" | "encode" | "decode" | "normalize" | "immutable"> & {
  statusField?: string;
  exposes?: true;
};

const REMOTE_ID = "id";

function reference(kinds: readonly string[], { statusField = REMOTE_ID, exposes, ...wiring }: Wiring): Traits {
  return { ...wiring, reference: { kinds, statusField, ...(exposes && { exposes }) } };
}

const takesID = ({ statusField = REMOTE_ID }: Wiring): boolean => statusField === REMOTE_ID;

/**
 * A reference to one object of any of these kinds. The request gets a field of that object's status (by default its
 * id).
 */
export const refTo = (kinds: string | readonly string[], wiring: Wiring = {}) => {
  const list = typeof kinds === "string" ? [kinds] : kinds;
  return mark(target(list, takesID(wiring)), reference(list, wiring));
};

/** A list of references. They are sent in the order of the spec. The order is compared only if `normalize` keeps it. */
export const refsTo = (kinds: string | readonly string[], wiring: Wiring & { max?: number } = {}) => {
  const { max = 64, ...rest } = wiring;
  const list = typeof kinds === "string" ? [kinds] : kinds;
  return mark(z.array(target(list, takesID(rest))).max(max), {
    normalize: unordered,
    rules: [eachOnce],
    ...reference(list, rest),
  });
};

const eachOnce: Rule = {
  rule: "self.all(one, self.exists_one(other, other == one))",
  message: "must name each object once, and each id",
  holds: (self: readonly { kind?: string; name?: string; id?: string }[]) =>
    new Set(self.map(({ kind, name, id }) => JSON.stringify([kind, name, id]))).size === self.length,
  reason: "FieldValueDuplicate",
};

const keyIn = (kind: "Secret" | "ConfigMap") =>
  z.object({
    name: objectName.describe(`Name of ${withArticle(kind)} in this namespace.`),
    key: matching(
      z.string().min(1).max(253),
      /^\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$/,
      `must be a key in the data of ${withArticle(kind)}: letters, digits, -, _ and ., without .. at the beginning`,
    ).describe(`Key in the ${kind}'s data.`),
  });

type KeyWiring = { sends: string } & Pick<Traits, "problemOfValue">;

/** The value under one key of a Secret in the namespace of the object. */
export const secretKey = (what: string, wiring: KeyWiring) =>
  mark(keyIn("Secret"), { ...wiring, secret: true }).describe(`Secret and key that hold ${what}.`);

/** The value under one key of a ConfigMap in the namespace of the object. */
export const configMapKey = (what: string, wiring: KeyWiring) =>
  mark(keyIn("ConfigMap"), { ...wiring, configMap: true }).describe(`ConfigMap and key that hold ${what}.`);

/** The name of a Secret. Several of its keys are sent. */
export const secretName = (what: string, trait: SecretNameTrait) =>
  mark(objectName, { secretName: trait }).describe(what);

/** The name of a Secret that the operator writes. */
export const outputSecret = (what: string) =>
  mark(objectName, { notInBody: true }).describe(
    `Name of a Secret in this namespace that the operator creates and owns; its ${what}. One that exists already is never overwritten.`,
  );

const HOST = "([a-zA-Z0-9_]([-a-zA-Z0-9_]{0,61}[a-zA-Z0-9_])?\\.)+[a-zA-Z]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?";

/** A host name. */
export const hostName = matching(
  z.string().min(1).max(253),
  new RegExp(`^${HOST}$`),
  "must be a host name with a dot in it and without a wildcard, such as agents.example.com",
);

/** A host name, or a wildcard for all names one level below one. */
export const domain = matching(
  z.string().min(1).max(253),
  new RegExp(`^(\\*\\.)?${HOST}$`),
  "must be a host name with a dot in it, such as shop.example.com, or *.example.com for all names one level below",
);

/**
 * The base64 of a key begins with its type, so that it has a beginning of its own for each type. Types that are not here
 * have a name of their maker, as in `sk-ssh-ed25519@openssh.com`.
 */
const keyTypes = [
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}",
  "ssh-rsa AAAAB3NzaC1yc2E[A-Za-z0-9+/]{64,}={0,2}",
  "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAI[A-Za-z0-9+/]{64,}={0,2}",
  "ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAI[A-Za-z0-9+/]{64,}={0,2}",
  "ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAI[A-Za-z0-9+/]{64,}={0,2}",
  "[a-z0-9.-]+@[a-z0-9.-]+ AAAA[A-Za-z0-9+/]{20,}={0,2}",
];

/** `<type> <base64>`. A comment after it, as in authorized-keys files, is ignored. */
export const sshPublicKey = mark(
  matching(
    z.string().min(1).max(16_384),
    new RegExp(`^(${keyTypes.join("|")})( [^\\n]*)?\\n?$`),
    "must be one line of a .pub file: the type of the key, a space, and the whole key in base64",
  ),
  { normalize: (value) => (typeof value === "string" ? value.trim().split(/\s+/).slice(0, 2).join(" ") : value) },
);

export const ownerId = mark(z.string().min(1).max(128), { serverDefault: true }).describe(
  "Id of the user or bot that owns it. Default: the owner of the operator's key. Only admins may name others.",
);

/** Normalizes a time in RFC 3339 to whole seconds in UTC, since one moment can be written in several ways. */
export function timestamp(value: unknown): unknown {
  const time = Date.parse(String(value));
  return Number.isFinite(time) ? Math.floor(time / 1000) : value;
}

/** For lists whose order matters. */
export const ordered = (value: unknown): unknown => value;

/** For headers, whose names are case-insensitive. */
export const lowerCaseKeys = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toLowerCase(), one]))
    : value;

/** The id of a resource that no kind manages. */
export const unmanagedID = (prefix: string) =>
  matching(
    z.string().max(128),
    new RegExp(`^${prefix}[A-Za-z0-9]+$`),
    `must be an id that begins with ${prefix}: letters and digits after it`,
  );

/** A character of the names that HTTP knows, such as those of headers and cookies. */
export const TOKEN = "[-!#$%&'*+.^_`|~0-9A-Za-z]";

/** A map whose keys the user chooses. They are never converted to snake_case. */
export const stringMap = (maxProperties = 64) => atMost(maxProperties, z.record(z.string(), z.string().max(1024)));

/** A map of at most so many members. The API server counts them by the schema, and this program itself. */
export const atMost = <R extends z.ZodRecord>(maxProperties: number, record: R): R =>
  record
    .refine((map: object) => Object.keys(map).length <= maxProperties, `must have at most ${maxProperties} members`)
    .meta({ maxProperties }) as R;

const LABEL_NAME = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";

const keyed = <R extends z.ZodRecord>(record: R, prefix: string, what: string): R => {
  const message = `must have keys of ${what}: letters, digits, -, _ and ., with a letter or digit at both ends, after a prefix such as example.com/ or without one`;
  const inForm = withKeys(record, new RegExp(`^(${prefix}/)?${LABEL_NAME}$`), message);
  return withKeys(inForm, /^([^/]{1,253}\/)?[^/]{1,63}$/, "must have keys with a prefix of at most 253 characters");
};

const labelValue = matching(
  z.string().max(63),
  /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
  "must be the value of a label: letters, digits, -, _ and ., with a letter or digit at both ends",
);

/** At most so many labels. */
export const labels = (most: number) => keyed(atMost(most, z.record(z.string(), labelValue)), SUBDOMAIN, "labels");

/** At most so many annotations. Kubernetes ignores the case of their prefixes. */
export const annotations = (most: number) =>
  keyed(atMost(most, z.record(z.string(), z.string().max(1024))), SUBDOMAIN.replaceAll("a-z", "a-zA-Z"), "annotations");

/** Kinds that an edge, or another backend, can send traffic to. */
export const backendKinds = [
  "TunnelGroupBackend",
  "HTTPResponseBackend",
  "WeightedBackend",
  "FailoverBackend",
] as const;

export const regions = ["au", "eu", "ap", "us", "jp", "in", "sa"] as const;

/** For lists in which neither order nor repetition matters. `one` normalizes an entry. */
export const setOf =
  (one: (entry: unknown) => unknown) =>
  (value: unknown): unknown => {
    if (!Array.isArray(value)) return value;
    const entries = new Map(value.map(one).map((entry) => [JSON.stringify(entry), entry]));
    return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  };

export const unordered = setOf((entry) => entry);

/** Normalizes metadata: neither the white space of its JSON nor the owner mark in it counts as a difference. */
function jsonValue(value: unknown): unknown {
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return value;
  try {
    const { [OWNER_KEY]: _, ...users } = JSON.parse(value, keepLargeIntegers);
    return users;
  } catch {
    return value;
  }
}

/** A reviver for `JSON.parse`. It keeps the digits of an integer that is too large for a number. */
const keepLargeIntegers = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER ? source : value;
