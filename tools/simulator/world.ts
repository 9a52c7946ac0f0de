import { Agenda } from "./agenda.ts";
import { CertificateJobs } from "./certificates/jobs.ts";
import { recordCheck } from "./certificates/record-check.ts";
import { reservedDomains } from "./families/reserved-domains.ts";
import { Agents } from "./families/sessions/agents.ts";
import { issueCertificate } from "./families/tls-certificates.ts";
import { Keyring } from "./keyring.ts";
import { type Random, seeded } from "./random.ts";
import { Cursors } from "./resource/cursors.ts";
import { Store } from "./resource/store.ts";
import type { Settings } from "./settings.ts";

/** One account of the service and everything that happens in it. HTTP is in `http`. */
export interface World {
  readonly settings: Settings;
  readonly clock: () => number;
  readonly random: Random;
  readonly store: Store;
  readonly cursors: Cursors;
  readonly agenda: Agenda;
  readonly certificates: CertificateJobs;
  readonly agents: Agents;
  readonly keyring: Keyring;
}

export function createWorld(settings: Settings): World {
  const { clock } = settings;
  const random = seeded(settings.seed);
  const store = new Store({ random, clock, memoryMs: settings.listLagMs });
  const agenda = new Agenda();
  const certificates = new CertificateJobs({
    store,
    agenda,
    clock,
    startMs: settings.startMs,
    provisionMs: settings.provisionMs,
    hasRecord: settings.resolver === undefined ? undefined : recordCheck(settings.resolver),
    issue: (row) => (row.collection === reservedDomains ? issueCertificate(row, { store, clock }) : undefined),
  });
  const agents = new Agents({ store, agenda, clock, restartMs: settings.restartMs, updateMs: settings.updateMs });
  return {
    settings,
    clock,
    random,
    store,
    cursors: new Cursors(),
    agenda,
    certificates,
    agents,
    keyring: new Keyring(),
  };
}
