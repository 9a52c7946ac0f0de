import { join } from "node:path";
import { externalDNSBinary } from "../cluster/build/build.ts";
import { type Processes, startProcesses } from "../cluster/processes/processes.ts";
import type { Bind } from "./bind.ts";

/** A file with the CustomResourceDefinition of DNSEndpoint. */
export const definition = join(import.meta.dirname, "dns-endpoint-crd.yaml");

/** How often it compares DNSEndpoints and records. Its default is a minute. */
const EVERY_SECONDS = 1;

export interface ExternalDNSOptions {
  readonly kubeconfig: string;
  /** The namespace whose DNSEndpoints it reads. */
  readonly namespace: string;
  readonly bind: Bind;
  readonly onProgress?: (line: string) => void;
}

/** external-dns, which keeps the records of a zone as the DNSEndpoints of a namespace say. It ends with this process. */
export class ExternalDNS {
  readonly #processes: Processes;

  private constructor(processes: Processes) {
    this.#processes = processes;
  }

  static async start({ kubeconfig, namespace, bind, onProgress }: ExternalDNSOptions): Promise<ExternalDNS> {
    const program = await externalDNSBinary({ onProgress });
    const processes = await startProcesses();
    processes.start("external-dns", program, [
      `--kubeconfig=${kubeconfig}`,
      `--namespace=${namespace}`,
      "--source=crd",
      "--managed-record-types=CNAME",
      "--managed-record-types=NS",
      `--domain-filter=${bind.zone}`,
      "--registry=txt",
      "--txt-owner-id=tests",
      "--policy=sync",
      `--interval=${EVERY_SECONDS}s`,
      "--provider=rfc2136",
      "--rfc2136-host=127.0.0.1",
      `--rfc2136-port=${bind.port}`,
      `--rfc2136-zone=${bind.zone}`,
      `--rfc2136-tsig-keyname=${bind.key.name}`,
      `--rfc2136-tsig-secret=${bind.key.secret}`,
      "--rfc2136-tsig-secret-alg=hmac-sha256",
      "--rfc2136-tsig-axfr",
      "--rfc2136-min-ttl=1s",
    ]);
    return new ExternalDNS(processes);
  }

  /** The end of its log. */
  lastLines(): Promise<string> {
    return this.#processes.lastLines("external-dns");
  }

  stop(): Promise<void> {
    return this.#processes.end();
  }
}
