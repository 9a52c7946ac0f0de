import { conditionOf } from "../../../objects/object.ts";
import { counted } from "../../../schema/nouns.ts";
import { flagOf, includes } from "../../cluster/scope.ts";
import { SOON_MS } from "../../status/render.ts";
import { certificatesOf } from "../../status/summary.ts";
import type { View } from "../reading/view.ts";
import { type Html, html } from "../view/html.ts";
import { empty, objectLink, reasonLink, section, tableOf } from "../view/parts.ts";
import { endsPlot } from "../view/plot.ts";
import { badge, tinted } from "../view/state.ts";

const DAY_MS = 86_400_000;

/** What ends, that which ends first before the others, and the DNS records that are missing. */
export function certificates({ read, scope, now }: View): Html {
  const all = certificatesOf(read.objects).filter(({ namespace, until }) => until !== "" && includes(scope, namespace));
  const rows = all.map((one) => [objectLink(one), one.namespace, one.until, leftUntil(one.until, now)]);
  const records = recordsOf(read, scope);
  return html`${section(
    "ends",
    "Certificates, by their end",
    all.length === 0
      ? empty("No object has a certificate yet.")
      : html`${endsPlot(
          all.map(({ namespace, name, until }) => ({ title: `${namespace}/${name}`, until })),
          now,
        )}${tableOf("Certificates by their end", ["Object", "Namespace", "Ends", "In"], rows)}
<p>What the service issues, it renews: the condition CertificateReady of the domain or edge says how that goes.</p>`,
    `status ${flagOf(scope)} -o json`,
  )}
${section(
  "records",
  "DNS records",
  records.length === 0
    ? empty("No DNS record is missing.")
    : tableOf("DNS records that are missing", ["Object", "Namespace", "Reason", "Message"], records),
  `status ${flagOf(scope)}`,
)}`;
}

function leftUntil(until: string, now: number): Html {
  const days = Math.floor((Date.parse(until) - now) / DAY_MS);
  if (days < 0) return badge("attention", "has ended");
  const words = counted(days, "day");
  return days * DAY_MS < SOON_MS ? tinted("waiting", words) : html`${words}`;
}

const recordsOf = ({ objects }: View["read"], scope: View["scope"]) =>
  [...objects.values()].flat().flatMap((object) => {
    const { kind, metadata, status } = object;
    const { namespace, name } = metadata;
    const found = conditionOf(status, "DNSReady");
    if (found?.status !== "False" || !includes(scope, namespace)) return [];
    return [[objectLink({ kind, namespace, name }), namespace, reasonLink(found.reason), found.message]];
  });
