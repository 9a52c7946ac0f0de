import { Gauge, type Registry } from "prom-client";
import { hasValidity, loneCertificates, timeOf, type Validity } from "../triggers/lone-certificates.ts";
import type { MetricSources } from "./metric-sources.ts";

// not `namespace`: Prometheus adds that label itself, with the operator's namespace
const labelNames = ["kind", "object_namespace", "object_name", "account"] as const;
type Labels = Partial<Record<(typeof labelNames)[number], string>>;

/**
 * The validity of certificates: of each object as its status says and, for each kind and account, of one served
 * certificate without an object, as the latest list says. The service also shows certificates that it has issued itself
 * or that people have uploaded.
 */
export function certificateMetrics(registers: Registry[], sources: () => MetricSources | undefined): void {
  const ends = [
    { name: "start", end: "from", help: "When a certificate became valid, in seconds since 1970." },
    { name: "expiry", end: "until", help: "When a certificate ends, in seconds since 1970." },
  ] as const;
  const gauges = ends.map(({ name, end, help }, index) => {
    const metric = `tunnelgateway_certificate_${name}_timestamp_seconds`;
    return { end, gauge: new Gauge({ name: metric, help, labelNames, registers, ...(index === 0 && { collect }) }) };
  });
  // prom-client calls it for the first gauge; it sets both
  function collect(): void {
    for (const { gauge } of gauges) gauge.reset();
    for (const [labels, validity] of validities(sources())) {
      for (const { gauge, end } of gauges) if (Number.isFinite(validity[end])) gauge.set(labels, validity[end] / 1000);
    }
  }
  new Gauge({
    name: "tunnelgateway_certificate_renewal_timestamp_seconds",
    help: "When the service renews the certificate that it manages for an object, in seconds since 1970.",
    labelNames: ["kind", "object_namespace", "object_name"],
    registers,
    collect() {
      this.reset();
      for (const [labels, renewal] of renewals(sources()))
        if (Number.isFinite(renewal)) this.set(labels, renewal / 1000);
    },
  });
}

function* validities(sources: MetricSources | undefined): Generator<[Labels, Validity]> {
  if (!sources) return;
  yield* ofObjects(sources);
  yield* ofAccounts(sources);
}

function* ofObjects({ kinds, counted }: MetricSources): Generator<[Labels, Validity]> {
  for (const { kind, validity } of kinds.filter(hasValidity)) {
    for (const { metadata, status } of counted.get(kind)?.store.list() ?? []) {
      const labels = { kind, object_namespace: metadata.namespace, object_name: metadata.name };
      yield [labels, { from: timeOf(status?.[validity.from]), until: timeOf(status?.[validity.until]) }];
    }
  }
}

function* renewals(sources: MetricSources | undefined): Generator<[Labels, number]> {
  for (const { kind, status: fields } of sources?.kinds ?? []) {
    if (!("certificateManagementStatus" in fields.shape)) continue;
    for (const { metadata, status } of sources?.counted.get(kind)?.store.list() ?? []) {
      const managed = status?.["certificateManagementStatus"] as { renewsAt?: string } | undefined;
      if (!managed) continue;
      yield [{ kind, object_namespace: metadata.namespace, object_name: metadata.name }, timeOf(managed.renewsAt)];
    }
  }
}

function* ofAccounts(sources: MetricSources): Generator<[Labels, Validity]> {
  for (const { kind, account, first } of loneCertificates(sources, sources.clock.date().getTime()))
    if (first) yield [{ kind, account: sources.accounts.labelOf(account) }, first];
}
