import { Gauge, type Registry } from "prom-client";
import type { ManagedObject } from "../../objects/object.ts";
import type { Kind } from "../../schema/define.ts";
import type { Observed } from "./observed.ts";

// `namespace` would be taken for that of the operator, which Prometheus adds itself
const labelNames = ["kind", "object_namespace", "object_name"] as const;
type Label = (typeof labelNames)[number];

/** When what runs out became valid, and when it ends, as the status of each object says. */
export function certificateMetrics(registers: Registry[], look: () => Observed | undefined): void {
  const gauge = (name: string, help: string, end: "from" | "until") =>
    new Gauge<Label>({
      ...{ name: `tunnelgateway_certificate_${name}_timestamp_seconds`, help, labelNames, registers },
      collect() {
        this.reset();
        for (const [kind, object] of certificates(look())) {
          const time = Date.parse(String(object.status?.[kind.validity[end]]));
          const { namespace, name } = object.metadata;
          const labels = { kind: kind.kind, object_namespace: namespace, object_name: name };
          if (Number.isFinite(time)) this.set(labels, time / 1000);
        }
      },
    });
  gauge("start", "When the certificate that an object stands for became valid, in seconds since 1970.", "from");
  gauge("expiry", "When the certificate that an object stands for ends, in seconds since 1970.", "until");
}

type Ending = Kind & { readonly validity: NonNullable<Kind["validity"]> };
const ends = (kind: Kind): kind is Ending => kind.validity !== undefined;

function* certificates(observed: Observed | undefined): Generator<[Ending, ManagedObject]> {
  for (const kind of observed?.kinds.filter(ends) ?? []) {
    for (const object of observed?.informers.get(kind.kind)?.store.list() ?? []) yield [kind, object];
  }
}
