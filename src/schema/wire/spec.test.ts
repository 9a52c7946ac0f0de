import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { specs } from "../../../test/fakes/schema/arbitrary.ts";
import { HTTPResponseBackend } from "../../kinds/http-response-backend.ts";
import { kinds } from "../../kinds/index.ts";
import { ReservedAddress } from "../../kinds/reserved-address.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import type { Kind } from "../define.ts";
import { fromAnswer } from "./answer.ts";
import { differences } from "./compare.ts";
import { needsOf } from "./needs.ts";
import { answerTo } from "./prediction.ts";
import { type Body, toRequest } from "./request.ts";
import { type SpecSources, toSpec } from "./spec.ts";

type Spec = Record<string, unknown>;

const byID: SpecSources = {
  reference: () => undefined,
  secretKey: (path) => ({ name: "secret", key: path.replaceAll(/[^\w]/g, "") || "key" }),
  secretName: () => "secret",
};

const prefixOf = (name: string | undefined) => kinds.find(({ kind }) => kind === name)?.resource.idPrefix;

const secretValue = ({ path, name, key }: { path: string; name: string; key: string }): string =>
  path.startsWith("caPemFrom")
    ? `-----BEGIN CERTIFICATE-----\n${name.replaceAll(/\W/g, "")}\n-----END CERTIFICATE-----`
    : `value of ${name}/${key}`;

function requestOf(kind: Kind, spec: Spec): Body {
  const values = needsOf(kind.spec, spec).map((need): [string, string] => {
    if (need.type !== "reference") return [need.path, secretValue(need)];
    const { name = "", id = `${prefixOf(need.to.kind ?? need.trait.kinds[0])}${name.replaceAll(/\W/g, "_")}` } =
      need.to;
    return [need.path, need.trait.statusField === "id" ? id : `${id}:1`];
  });
  return toRequest(kind.spec, spec, new Map(values));
}

const valid = (kind: Kind) => specs(kind).filter((spec) => kind.spec.safeParse(spec).success);

/** Names a Secret that the operator writes, which no answer shows. */
const outputOf = ({ output }: Kind): Spec => (output ? { [output.field]: "secret" } : {});

describe.each(kinds.filter(({ location }) => location.type === "collection").map((kind) => [kind.kind, kind] as const))(
  "%s",
  (_, kind) => {
    it("a spec that is written from an answer differs from it in nothing, and is written in the same way again", () => {
      fc.assert(
        fc.property(valid(kind), (spec) => {
          const answer = answerTo(kind.resource, requestOf(kind, spec));
          const { spec: written, leftOut } = toSpec(kind.spec, fromAnswer(kind.spec, answer), byID);
          expect(leftOut).toEqual([]);
          const wanted = requestOf(kind, kind.spec.parse({ ...outputOf(kind), ...written }) as Spec);
          const fields = Object.keys(written);
          const differing = differences(kind.spec, wanted, fromAnswer(kind.spec, answer), fields);
          // what comes from a Secret depends on what somebody puts into it
          expect(differing.filter(({ member }) => !String(wanted[member]).startsWith("value of"))).toEqual([]);
          expect(toSpec(kind.spec, fromAnswer(kind.spec, answer), byID).spec).toEqual(written);
        }),
        { numRuns: 25 },
      );
    });
  },
);

test("defaults, empty texts and empty lists are left out", () => {
  const body = { description: "", headers: {}, status_code: 200, body: "hello" };
  expect(toSpec(HTTPResponseBackend.spec, body, byID).spec).toEqual({ body: "hello" });
});

test("a module with all its defaults stays", () => {
  const body = { ip_restriction: { enabled: true, ip_policy_ids: [] } };
  expect(toSpec(TCPEdge.spec, body, byID).spec).toEqual({ ipRestriction: { ipPolicyRefs: [] } });
});

test("a part with all its defaults stays", () => {
  const body = {
    domain: "a.example.org",
    certificate_management_policy: { authority: "freeca", private_key_type: "rsa" },
  };
  expect(toSpec(ReservedDomain.spec, body, byID).spec).toEqual({
    domain: "a.example.org",
    certificateManagementPolicy: {},
  });
});

test("addresses that objects have become references, and the others stay addresses", () => {
  const sources = { ...byID, reference: (value: string) => (value === "a:1" ? { name: "a" } : undefined) };
  expect(toSpec(TCPEdge.spec, { hostports: ["a:1", "b:2"] }, sources).spec).toEqual({
    hostports: ["b:2"],
    addressRefs: [{ name: "a" }],
  });
});

test("a value that the schema does not know is left out and named", () => {
  expect(toSpec(ReservedAddress.spec, { region: "moon", description: "one" }, byID)).toEqual({
    spec: { description: "one" },
    leftOut: ["region"],
  });
});
