import { randomBytes } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../cluster/processes/port.ts";
import { type Processes, startProcesses } from "../cluster/processes/processes.ts";
import { librariesOf, type Programs } from "../shared/debian.ts";

/** Who may change a zone, as TSIG has it. */
export interface UpdateKey {
  readonly name: string;
  readonly secret: string;
}

const START_MS = 30_000;
const POLL_MS = 50;
const PORTS = 3;

/** A zone with a TTL of one second. Negative answers are not cached. */
const zone = (name: string): string => `$TTL 1
@ IN SOA ns.${name}. admin.${name}. 1 60 60 3600 0
@ IN NS ns.${name}.
ns.${name}. IN A 127.0.0.1
`;

/**
 * BIND 9 on a port of the loopback interface, for one zone that RFC 2136 changes. It also serves the root zone, so that
 * every other name gets an answer: it does not exist. It ends with this process.
 */
export class Bind {
  /** As `DNS_RESOLVERS` takes it. */
  readonly address: string;
  readonly port: number;
  readonly zone: string;
  readonly key: UpdateKey;
  readonly #processes: Processes;
  readonly #resolver = new Resolver({ timeout: 2_000, tries: 2 });

  /** See `start`. */
  constructor(port: number, { zone, key }: { zone: string; key: UpdateKey }, processes: Processes) {
    this.address = `127.0.0.1:${port}`;
    this.port = port;
    this.zone = zone;
    this.key = key;
    this.#processes = processes;
    this.#resolver.setServers([this.address]);
  }

  /** Resolves when it answers. */
  static async start({ named }: Programs<"named">, zone: string): Promise<Bind> {
    const processes = await startProcesses();
    try {
      return await launch(named, zone, processes);
    } catch (error) {
      await processes.end();
      throw error;
    }
  }

  /** The target of the CNAME. Empty: there is no such record. */
  async cname(name: string): Promise<string[]> {
    try {
      return await this.#resolver.resolveCname(name);
    } catch (error) {
      if (["ENOTFOUND", "ENODATA"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
      throw error;
    }
  }

  /** Whether it answers for its zone. */
  answers(): Promise<boolean> {
    return this.#resolver.resolveNs(this.zone).then(
      () => true,
      () => false,
    );
  }

  stop(): Promise<void> {
    return this.#processes.end();
  }
}

async function launch(named: string, name: string, processes: Processes): Promise<Bind> {
  const { directory } = processes;
  const key = { name: "external-dns", secret: randomBytes(32).toString("base64") };
  await Promise.all([
    writeFile(join(directory, "zone"), zone(name)),
    writeFile(join(directory, "root"), zone("dns.example")),
  ]);
  for (let attempt = 1; ; attempt++) {
    const bind = new Bind(await freePort(), { zone: name, key }, processes);
    await writeFile(join(directory, "named.conf"), configuration(directory, bind), { mode: 0o600 });
    // in the foreground, with its log on standard error
    const command = [named, "-g", "-c", join(directory, "named.conf")];
    processes.start("named", "/usr/bin/env", [`LD_LIBRARY_PATH=${(await librariesOf(named)).join(":")}`, ...command]);
    if (await started(bind, processes)) return bind;
    // somebody else may have taken the port in the meantime
    if (attempt === PORTS) throw new Error(`No BIND:\n${await processes.lastLines("named")}`);
  }
}

const configuration = (directory: string, { port, zone, key }: Bind): string => `
key "${key.name}" { algorithm hmac-sha256; secret "${key.secret}"; };
options {
  directory "${directory}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file none; session-keyfile none; lock-file none;
  recursion no; dnssec-validation no; empty-zones-enable no;
};
controls { };
zone "${zone}" {
  type primary; file "zone";
  allow-update { key "${key.name}"; };
  allow-transfer { key "${key.name}"; };
};
zone "." { type primary; file "root"; };
`;

/** False when the process has ended. */
async function started(bind: Bind, processes: Processes): Promise<boolean> {
  const deadline = performance.now() + START_MS;
  while (processes.isRunning("named")) {
    if (await bind.answers()) return true;
    if (performance.now() > deadline) throw new Error(`BIND does not answer after ${START_MS / 1000} s`);
    await sleep(POLL_MS);
  }
  return false;
}
