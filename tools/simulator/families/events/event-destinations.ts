import { invalid } from "../../http/refusal.ts";
import { defineCollection } from "../../resource/collection.ts";
import { type Check, type Fields, object } from "../../shape/check.ts";
import type { Members } from "../../shape/members.ts";
import { nonEmpty, string } from "../../shape/scalars.ts";
import { texts } from "../../shape/texts.ts";

/** Checks an object of which exactly one member is given. The others are null or left out. */
function exactlyOne(fields: Fields): Check {
  const names = Object.keys(fields);
  const optional = Object.fromEntries(
    names.map((name) => [
      name,
      { ...fields[name], check: fields[name]?.check ?? string, nullable: true as const, initial: null },
    ]),
  );
  return object(optional, (members, at) => {
    const given = names.filter((name) => members[name] !== null);
    if (given.length !== 1) throw invalid(`${at.slice(0, -1)}: exactly one of ${names.join(", ")} must be given`);
  });
}

const auth = {
  check: exactlyOne({
    role: { check: object({ role_arn: { check: nonEmpty, required: true } }) },
    creds: {
      check: object({
        cloud_access_key_id: { check: nonEmpty, required: true },
        cloud_secret_access_key: { check: nonEmpty, required: true },
      }),
    },
  }),
  required: true as const,
};

const arn = { check: nonEmpty, required: true as const };
const tag = { check: string, initial: "" };

const target = exactlyOne({
  delivery: { check: object({ auth, delivery_stream_arn: arn }) },
  stream: { check: object({ auth, stream_arn: arn }) },
  logs: { check: object({ auth, log_group_arn: arn }) },
  monitoring: {
    check: object({ api_key: { check: nonEmpty, required: true }, ddtags: tag, service: tag, ddsite: tag }),
  },
});

const json: Check = (value, at, store) => {
  if ((string(value, at, store) as string).toLowerCase() !== "json") throw invalid(`${at}: must be json`);
  return "json";
};

const withoutSecret = (value: unknown): unknown => {
  const { auth: given, ...rest } = (value ?? {}) as { auth?: { role: unknown; creds: Members | null } };
  if (!given?.creds) return value;
  return { ...rest, auth: { role: null, creds: { cloud_access_key_id: given.creds.cloud_access_key_id } } };
};

export const eventDestinations = defineCollection({
  name: "event_destinations",
  prefix: "ed",
  unset: ["missing", "missing"],
  nextPage: "path",
  fields: {
    ...texts,
    format: { check: json, required: true },
    target: { check: target, required: true },
  },
  show: ({ target: given, ...members }) => ({
    ...members,
    target: Object.fromEntries(Object.entries(given as Members).map(([name, value]) => [name, withoutSecret(value)])),
  }),
});
