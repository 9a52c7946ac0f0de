import { describe, expect, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

// What the service dates is compared with its own clock, which the header `Date` tells.

const PATH = "/backends/tunnel_group";

describe.each([-10, 10])("where the clock of the service is %d minutes ahead", (minutes) => {
  const world = useWorld({
    process: true,
    simulator: { clockOffsetMs: minutes * 60_000 },
    env: { REQUEST_TIMEOUT: "2s" },
  });
  const control = () => world.simulator.control;
  const rows = () => control().objects("backends/tunnel_group");
  const spec = (app: string) => ({ labels: { app }, metadata: "opaque" });

  // guards against a second remote, since nothing but its time tells that it is ours
  test("a remote without a mark whose id was never written down is found by the next process", async () => {
    control().fault({ method: "POST", path: PATH, action: { hang: "after" } });
    await world.kube.apply(manifest("TunnelGroupBackend", "found", spec("found")));
    const made = await world.until("it is made", async () => rows()[0]);
    await world.operator.stop("SIGKILL");
    await world.startOperator();
    const { status } = await world.ready("TunnelGroupBackend", "found");
    expect(status).toMatchObject({ id: made["id"], origin: "Created" });
    expect(rows()).toHaveLength(1);
  });

  // guards against a remote that is taken over, and deleted with the object
  test("what somebody else made seven minutes before is theirs", async () => {
    const createdAt = new Date(Date.now() + (minutes - 7) * 60_000).toISOString();
    const theirs = control().insert("backends/tunnel_group", { ...spec("theirs"), created_at: createdAt });
    control().fault({ method: "POST", path: PATH, action: { hang: true } });
    await world.kube.apply(manifest("TunnelGroupBackend", "theirs", spec("theirs")));
    await world.until("it was sent", async () =>
      world.changesSent().some(({ path, body }) => path === PATH && JSON.stringify(body).includes("theirs")),
    );
    await world.operator.stop("SIGKILL");
    await world.startOperator();
    const { status } = await world.ready("TunnelGroupBackend", "theirs");
    expect(status.id).not.toBe(theirs["id"]);
    await world.kube.delete("TunnelGroupBackend", "theirs");
    await world.gone("TunnelGroupBackend", "theirs");
    expect(control().get(String(theirs["id"]))).toMatchObject({ labels: { app: "theirs" } });
  });

  // guards against a certificate that counts as ended while it is valid
  test("a host certificate that is valid for five minutes is Ready", async () => {
    const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2W0Hk8s3y2UkzN5n0iDqk0zUvQw0H8iQ4n3nZ0Z0aa";
    const validUntil = new Date(Date.now() + (minutes + 5) * 60_000).toISOString().replace(/\.\d+/, "");
    await world.kube.apply(
      manifest("SSHHostCertificate", "host", { sshCertificateAuthorityId: "sshca_1", publicKey: key, validUntil }),
    );
    const { status } = await world.ready("SSHHostCertificate", "host");
    expect(control().objects("ssh_host_certificates")).toMatchObject([{ id: status.id }]);
  });
});
