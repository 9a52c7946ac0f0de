import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { KubeError } from "../../runtime/connection/errors.ts";
import type { Lease } from "../../runtime/process/lease.ts";
import { recordingLogger } from "../../runtime/testing/logs.ts";
import { VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { parseLabelSelector } from "../../schema/label-selector.ts";
import { InstallationClaim, installationOf, overlaps } from "./installations.ts";

let clock: VirtualClock;
let leases: Map<string, Lease>;
let claims: InstallationClaim[];

beforeEach(() => {
  clock = new VirtualClock();
  leases = new Map();
  claims = [];
});

afterEach(async () => {
  await Promise.all(claims.map((claim) => claim.stop()));
});

interface Settings {
  /** When its Lease was made. */
  born: number;
  watchNamespaces?: string[];
  selector?: string;
  listAll?: KubeClient["listAll"];
}

/** An installation in a namespace of its own, with an elector that writes its Lease every two seconds. */
function install(namespace: string, { born, watchNamespaces = [], selector = "", listAll }: Settings) {
  const log = recordingLogger();
  const claim: InstallationClaim = new InstallationClaim({
    client: {
      listAll: listAll ?? ((async () => ({ items: [...leases.values()] })) as unknown as KubeClient["listAll"]),
    },
    config: {
      ...{ watchNamespaces, watchSelector: parseLabelSelector(selector) },
      ...{ podNamespace: namespace, installation: "default" },
    },
    ownLease: () => leases.get(namespace),
    random: () => 0.5,
    ...{ clock, log },
  });
  claims.push(claim);
  const renew = () =>
    leases.set(namespace, {
      ...{ apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
      metadata: {
        ...{ namespace, name: "tunnel-gateway-operator", uid: namespace, ...claim.marks() },
        creationTimestamp: new Date(born).toISOString(),
      },
      spec: { holderIdentity: "pod", leaseDurationSeconds: 15, renewTime: String(clock.now()) },
    });
  renew();
  claim.start();
  return { claim, log, renew, state: () => installationOf(leases.get(namespace) as Lease)?.claim };
}

/** Two seconds at a time, after each of which these renew their Leases. */
async function pass(seconds: number, ...alive: { renew: () => unknown }[]): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 2) {
    await clock.advance(2_000);
    for (const one of alive) one.renew();
  }
}

type Installed = ReturnType<typeof install>;

/** Ten minutes at the most. */
async function passUntilActive(one: Installed): Promise<void> {
  for (let passed = 0; passed < 600 && one.state() !== "active"; passed += 2) await pass(2, one);
  expect(one.state()).toBe("active");
}

describe("an installation", () => {
  it("goes on at once where no other has its objects", async () => {
    install("other", { born: 0, watchNamespaces: ["b"] });
    const { claim } = install("own", { born: 1, watchNamespaces: ["a"] });
    await claim.synced;
    expect(claim.isWaiting).toBe(false);
    expect(clock.now()).toBe(0);
  });

  it("waits while one that is active has its objects, and says so, whichever of them is older", async () => {
    const first = install("first", { born: 1 });
    await first.claim.synced;
    first.renew();
    const second = install("second", { born: 0 });
    await pass(120, first, second);
    expect(second.claim.isWaiting).toBe(true);
    expect(second.claim.problem).toContain('installation "default" in namespace first');
    expect(second.log.lines.map(({ message }) => message)).toContain("Could not start yet");
    expect([first.state(), second.state()]).toEqual(["active", "waiting"]);
    await passUntilActive(second);
    expect(second.claim.isWaiting).toBe(false);
  });

  it("goes on beside one that has objects with other labels, and waits for one that may have the same", async () => {
    const first = install("first", { born: 0, selector: "team=a" });
    await first.claim.synced;
    first.renew();
    const second = install("second", { born: 1, selector: "team in (b,c)" });
    await second.claim.synced;
    const third = install("third", { born: 2, selector: "tier=gold" });
    await pass(4, first, second, third);
    expect([second.state(), third.state()]).toEqual(["active", "waiting"]);
  });

  it("goes on when the other one has given up its Lease", async () => {
    const first = install("first", { born: 0 });
    await first.claim.synced;
    first.renew();
    const second = install("second", { born: 1 });
    await pass(4, first, second);
    const lease = leases.get("first") as Lease;
    leases.set("first", { ...lease, spec: { ...lease.spec, holderIdentity: "" } });
    await passUntilActive(second);
  });

  it("goes on as one of two that claim the same objects at the same time: the older", async () => {
    const older = install("older", { born: 0 });
    const younger = install("younger", { born: 1 });
    await pass(20, older, younger);
    expect([older.state(), younger.state()]).toEqual(["active", "waiting"]);
  });

  it("does not take its former claim for the new one", async () => {
    const first = install("first", { born: 0 });
    await first.claim.synced;
    first.renew();
    const second = install("second", { born: 1 });
    await clock.advance(1_000);
    leases.delete("first");
    // Its Lease still shows the first claim.
    await clock.advance(60_000);
    expect(second.claim.reason).toBeDefined();
    await passUntilActive(second);
  });

  it("goes on, with a warning, where it may not see the others", async () => {
    const forbidden = async () => {
      throw new KubeError({ status: 403, reason: "Forbidden", message: "no" });
    };
    const { claim, log } = install("own", { born: 0, listAll: forbidden });
    await claim.synced;
    expect(log.lines.map(({ message }) => message)).toEqual([expect.stringMatching(/^Cannot see/)]);
  });
});

it.each([
  [[], [], true],
  [[], ["a"], true],
  [["a", "b"], ["b"], true],
  [["a"], ["b"], false],
])("namespaces %j and %j overlap: %s", (one, other, expected) => {
  expect(overlaps({ namespaces: one }, { namespaces: other })).toBe(expected);
});
