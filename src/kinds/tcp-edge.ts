import * as z from "zod";
import { tcpEdgePolicy, tcpEdges } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { matching, refsTo, setOf, texts } from "../schema/fields.ts";
import { hostport, hostportPattern, isASCII } from "../schema/hosts.ts";
import { backendModule } from "../schema/modules/backend.ts";
import { ipRestrictionModule } from "../schema/modules/ip-restriction.ts";
import { trafficPolicyModule } from "../schema/modules/traffic-policy.ts";
import { areDistinct, lowerASCII } from "../schema/rules.ts";
import { countOfMore, firstOf } from "../schema/status.ts";
import { mark, type Rule } from "../schema/traits.ts";

const hostports = setOf(hostport);

/** In CEL, what `hostport` does to an address in ASCII. */
const spelled = (address: string): string => `${address}.lowerAscii().replace('.:', ':')`;

const distinct: Rule = {
  rule: `self.all(one, self.exists_one(other, ${spelled("other")} == ${spelled("one")}))`,
  message: "must have each address once: neither case nor a dot after the host makes it another one",
  holds: (self: readonly string[]) => areDistinct(self, (address) => lowerASCII(address).replaceAll(".:", ":")),
  reason: "FieldValueDuplicate",
};

/** CEL knows nothing of Punycode, so that it could not see one host that is written in two ways. */
const comparable: Rule = {
  rule: "self.all(one, size(bytes(one)) == size(one)) || self.filter(one, size(bytes(one)) != size(one) || one.lowerAscii().contains('xn--')).size() == 1",
  message:
    "must write each host with letters outside of ASCII as xn--, unless it is the only such host: the API server cannot see that two spellings are one host",
  holds: (self: readonly string[]) =>
    self.every(isASCII) || self.filter((one) => !isASCII(one) || lowerASCII(one).includes("xn--")).length === 1,
};

/** The fields of every edge. Both ways of naming an address end in one member, `hostports`. */
export const edgeFields = {
  ...texts,
  hostports: mark(
    z
      .array(
        matching(
          // a name of 253 characters, a dot and a port
          z.string().min(3).max(260),
          hostportPattern,
          "must be host:port with a host name, perhaps in the form xn--, and a port from 1 to 65535, such as 1.tcp.eu.gateway.example:20117",
        ),
      )
      .max(64),
    {
      normalize: hostports,
      rules: [distinct, comparable],
    },
  )
    .optional()
    .describe("Addresses to listen on, each host:port. Name ReservedAddress objects in `addressRefs` instead."),
  addressRefs: refsTo("ReservedAddress", {
    sends: "hostports",
    returns: "",
    statusField: "addr",
    // if the address is released, whoever reserves it next gets the traffic
    exposes: true,
    normalize: hostports,
  })
    .optional()
    .describe("Reserved addresses to listen on, beside `hostports`."),
  backend: backendModule,
  ipRestriction: ipRestrictionModule,
};

/** What the status of every edge shows of its addresses. */
export const listening = {
  hostports: firstOf("Addresses the edge listens on."),
  hostportCount: countOfMore("hostports", "How many addresses the edge listens on."),
};

export const TCPEdge = defineKind({
  kind: "TCPEdge",
  shortNames: ["gwtcp"],
  categories: ["tunnelgateway-edges"],
  summary: "Listens on reserved addresses and hands each TCP connection to a backend.",
  resource: tcpEdges,
  listensOn: "hostports",
  spec: z.object({ ...edgeFields, policy: trafficPolicyModule("delete") }),
  modules: { policy: tcpEdgePolicy },
  status: z.object(listening),
  columns: [textColumn("Hostports", { width: 40, value: ({ status }) => status["hostports"] })],
});
