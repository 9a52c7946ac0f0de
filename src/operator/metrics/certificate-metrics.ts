import { Gauge, type Registry } from "prom-client";
import type { ManagedObject } from "../../objects/object.ts";
import type { Kind } from "../../schema/define.ts";
import type { MetricSources } from "./metric-sources.ts";

// not `namespace`: Prometheus adds that label itself, with the operator's namespace
const labelNames = ["kind", "object_namespace", "object_name"] as const;
type Label = (typeof labelNames)[number];

/** From when until when the certificate of each object is valid, as its status says. */
export function certificateMetrics(registers: Registry[], sources: () => MetricSources | undefined): void {
  const gauge = (name: string, help: string, end: "from" | "until") =>
    new Gauge<Label>({
      ...{ name: `tunnelgateway_certificate_${name}_timestamp_seconds`, help, labelNames, registers },
      collect() {
        this.reset();
        for (const [kind, object] of certificates(sources())) {
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

type KindWithValidity = Kind & { readonly validity: NonNullable<Kind["validity"]> };
const hasValidity = (kind: Kind): kind is KindWithValidity => kind.validity !== undefined;

function* certificates(sources: MetricSources | undefined): Generator<[KindWithValidity, ManagedObject]> {
  for (const kind of sources?.kinds.filter(hasValidity) ?? []) {
    for (const object of sources?.informers.get(kind.kind)?.store.list() ?? []) yield [kind, object];
  }
}
