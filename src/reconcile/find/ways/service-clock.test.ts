import { beforeEach, describe, expect, it } from "vitest";
import { DEADLINE_MS, Scene } from "../../../../test/fakes/reconcile/scene.ts";
import type { Resource } from "../../../gateway/resource.ts";
import { ReservedDomain } from "../../../kinds/reserved-domain.ts";
import { SSHHostCertificate } from "../../../kinds/ssh-host-certificate.ts";
import { TunnelGroupBackend } from "../../../kinds/tunnel-group-backend.ts";

const MINUTE_MS = 60_000;

const unmarkable = [
  { how: "one of many alike", kind: TunnelGroupBackend, spec: { labels: { app: "db" }, metadata: "opaque" } },
  { how: "a name", kind: ReservedDomain, spec: { domain: "a.example.com", metadata: "opaque" } },
];

describe.each([-10, 10])("where the clock of the service is %d minutes ahead", (minutes) => {
  let scene: Scene;
  /** How far the clock of the service is ahead of that of this process. */
  let ahead: number;

  const remotes = ({ resource }: { resource: Resource }) => scene.gateway.remotesOf(resource);

  /** The pod of the next process has a clock that is this far ahead of the one before. */
  function restartWithClock(minutesAhead: number): void {
    scene.restart();
    scene.clock.setBy(minutesAhead * MINUTE_MS);
    ahead -= minutesAhead * MINUTE_MS;
  }

  beforeEach(() => {
    scene = new Scene();
    ahead = minutes * MINUTE_MS;
    scene.gateway.calendar = () => new Date(scene.clock.date().getTime() + ahead);
  });

  describe.each(unmarkable)("a create for $how", ({ kind, spec }) => {
    it("is found, also by a process whose clock differs", async () => {
      scene.gateway.loseAnswer("create");
      const object = await scene.apply(kind, "one", spec);
      restartWithClock(7);
      await scene.settle(object, 2);
      expect(scene.condition(object, "Ready")?.status).toBe("True");
      expect(scene.cluster.now(object).status).toMatchObject({ origin: "Created" });
      expect(remotes(kind)).toHaveLength(1);
    });

    it("does not adopt a remote that somebody else made seven minutes before", async () => {
      const theirs = scene.gateway.seed(kind.resource, spec);
      await scene.clock.advance(7 * MINUTE_MS);
      scene.gateway.swallow("create");
      const object = await scene.apply(kind, "one", spec);
      scene.restart();
      await scene.reconcile(object);
      await scene.clock.advance(2 * DEADLINE_MS);
      await scene.reconcile(object);
      expect(scene.idOf(object)).not.toBe(theirs.id);
      expect(scene.gateway.remote(kind.resource, theirs.id)).toEqual(theirs);
    });
  });

  it("a create is not sent again before it is settled, whatever the clock of the next process says", async () => {
    const [{ kind, spec }] = unmarkable as [(typeof unmarkable)[0]];
    scene.gateway.swallow("create");
    const object = await scene.apply(kind, "one", spec);
    restartWithClock(7);
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^Creating: /);
    expect(remotes(kind)).toEqual([]);
    await scene.clock.advance(2 * DEADLINE_MS);
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(remotes(kind)).toHaveLength(1);
  });

  it("a certificate expires, and is renewed, by that clock", async () => {
    scene.gateway.normalise = (remote) => ({
      ...remote,
      valid_after: scene.gateway.calendar().toISOString(),
      valid_until: new Date(scene.gateway.calendar().getTime() + 30 * MINUTE_MS).toISOString(),
    });
    const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2W0Hk8s3y2UkzN5n0iDqk0zUvQw0H8iQ4n3nZ0Z0aa";
    const spec = { sshCertificateAuthorityId: "sshca_1", publicKey: key, renewBefore: "5m" };
    const object = await scene.given(SSHHostCertificate, "one", spec);
    const [first] = remotes(SSHHostCertificate);
    await scene.clock.advance(24 * MINUTE_MS);
    await scene.reconcile(object);
    expect(scene.idOf(object)).toBe(first?.id);
    await scene.clock.advance(2 * MINUTE_MS);
    await scene.reconcile(object);
    expect(scene.idOf(object)).not.toBe(first?.id);
  });
});
