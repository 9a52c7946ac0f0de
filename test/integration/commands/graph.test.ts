import { beforeAll, describe, expect, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { ed25519PublicKey } from "../../../tools/simulator/testing/samples.ts";
import { command } from "../../support/command.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();
const run = (...args: string[]) => command(world, [...args, "-n", world.namespace]);

let policy: string;
let foreign: string;

/** An edge with its policy; an edge that a person has made with the same policy; and a policy that was retained. */
beforeAll(async () => {
  await world.apply(
    manifest("IPPolicy", "office", {}),
    manifest("TCPEdge", "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } }),
    manifest("TCPEdge", "later", { backend: { backendRef: { kind: "TunnelGroupBackend", name: "none" } } }),
    manifest("IPPolicy", "left", { deletionPolicy: "Retain" }),
    manifest("IPPolicy", "lost", { driftPolicy: "Report" }),
  );
  policy = (await world.ready("IPPolicy", "office")).status.id;
  await world.ready("TCPEdge", "ssh");
  await world.ready("IPPolicy", "left");
  const lost = await world.ready("IPPolicy", "lost");
  await world.condition("TCPEdge", "later", { type: "Ready", status: "False" });
  await world.delete("IPPolicy", "left");
  const { control } = world.simulator;
  foreign = String(control.insert("edges/tcp", { ip_restriction: { ip_policy_ids: [policy] } })["id"]);
  control.remove(lost.status.id);
  control.clearRequests();
});

test("users lists objects, and remotes without objects, by name and by id", async () => {
  const byName = await run("users", "ippolicy/office");
  expect(byName).toMatchObject({ code: 0, stderr: expect.stringContaining("1 of them has no object") });
  expect(byName.stdout).toContain("TCPEdge/ssh");
  expect(byName.stdout).toContain(foreign);
  expect((await run("users", policy)).stdout).toBe(byName.stdout);
  expect((await run("users", policy, "-o", "name")).stdout.trim().split("\n").sort()).toEqual(
    [foreign, "tcpedge.tunnelgateway.dev/ssh"].sort(),
  );
});

test("orphans lists remotes without objects, objects without remotes, and on request unmanaged remotes", async () => {
  const { code, stdout } = await run("orphans", "--no-headers");
  expect(code).toBe(0);
  // The cluster has objects of other tests as well.
  expect(stdout.split("\n").filter((line) => line.includes(world.namespace))).toEqual([
    expect.stringMatching(`^IPPolicy .*no object ${world.namespace}/left$`),
    expect.stringMatching(/^IPPolicy\/lost .*the remote is gone$/),
  ]);
  // An open create of an object of any namespace keeps all remotes that it may have made, also for other tests.
  await world.until("no open create keeps it", async () =>
    (await run("orphans", "--unmanaged")).stdout.includes(foreign),
  );
});

test("tree shows what is below an edge, and what is not Ready", async () => {
  const { code, stdout } = await run("tree", "tcpedge/ssh");
  const lines = stdout.trim().split("\n");
  expect({ code, lines }).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(/^NAME +NAMESPACE +READY +REASON +ID$/),
      expect.stringMatching(/^TCPEdge\/ssh .*True +Available +edgtcp_/),
      "└─ ipRestriction",
      expect.stringMatching(/^ {3}└─ IPPolicy\/office .*True +Available +ipp_/),
    ],
  });
  expect((await run("tree")).stdout).toMatch(/TCPEdge\/later .*False +ReferenceNotReady/);
  expect(JSON.parse((await run("tree", "-o", "json")).stdout)).toBeInstanceOf(Array);
});

test("tree shows sessions below the credential that they use, and edges below their domain", async () => {
  const { control } = world.simulator;
  const credential = String(control.insert("ssh_credentials", { public_key: ed25519PublicKey() })["id"]);
  const session = String(control.addSession({ credential_id: credential, region: "eu" })["id"]);
  const other = String(control.addSession({ credential_id: "cr_1", region: "eu" })["id"]);
  control.insert("reserved_domains", { domain: "*.shop.example.org" });
  const edge = String(control.insert("edges/tls", { hostports: ["www.shop.example.org:443"] })["id"]);
  const { code, stdout } = await run("tree", "-A");
  const lines = stdout.split("\n");
  const below = (text: string) => lines[lines.findIndex((line) => line.startsWith(text)) + 1];
  expect(code).toBe(0);
  expect(below(`SSHCredential ${credential}`)).toMatch(`└─ TunnelSession ${session} `);
  expect(below("Credential cr_1")).toMatch(`└─ TunnelSession ${other} `);
  expect(below("ReservedDomain ")).toMatch(`└─ TLSEdge ${edge} `);
  expect((await run("tree", edge, "--up")).stdout).toContain("└─ ReservedDomain ");
});

test("why follows causes to the root", async () => {
  expect(await run("why", "tcpedge/later")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^TCPEdge\/later is not Ready: ReferenceNotReady\n {2}Create TunnelGroupBackend "none"/,
    ),
  });
  expect((await run("why", "tcpedge/ssh")).stdout).toMatch(/^TCPEdge\/ssh is Ready$/m);
});

test("why shows the events of the object", async () => {
  // The operator writes events in the background.
  await world.until("why shows the event", async () => {
    const { stdout } = await run("why", "tcpedge/later", "-o", "json");
    const [{ events }] = JSON.parse(stdout) as [{ events: { reason: string }[] }];
    return events.some(({ reason }) => reason === "ReferenceNotReady");
  });
});

test("status counts objects by reason", async () => {
  const { code, stdout } = await run("status", "-o", "json");
  expect(code).toBe(0);
  const { objects } = JSON.parse(stdout) as { objects: object[] };
  expect(objects).toContainEqual({ kind: "TCPEdge", all: 2, ready: 1, others: { ReferenceNotReady: 1 } });
  expect((await run("status")).stdout).toMatch(/^TCPEdge +2 +1 +1 ReferenceNotReady$/m);
});

test("these commands write nothing", () => {
  expect(world.changesSent()).toEqual([]);
});

describe("what nobody manages", () => {
  test("is written as manifests", async () => {
    const { code, stdout } = await run("orphans", "--unmanaged", "--import");
    expect(code).toBe(0);
    expect(stdout).toContain(`adopt:\n    id: ${foreign}`);
  });

  test("is not deleted without being asked for, or while not everything can be read", async () => {
    expect(await run("orphans", "--delete")).toMatchObject({ code: 2, stderr: expect.stringMatching(/^Give --yes/) });
    world.simulator.control.fault({ method: "GET", path: "/edges/tcp", action: { status: 403 } });
    const { code, stderr } = await run("orphans", "--unmanaged", "--delete", "--yes");
    world.simulator.control.clearFaults();
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Nothing is deleted/m) });
    expect(world.changesSent()).toEqual([]);
  });

  test("is deleted only if nothing uses it, users first", async () => {
    const { control } = world.simulator;
    const policies = ["free", "used"].map((description) =>
      String(control.insert("ip_policies", { description })["id"]),
    );
    const [free, used] = policies;
    const edge = String(control.insert("edges/tcp", { ip_restriction: { ip_policy_ids: [used] } })["id"]);
    const held = String(control.insert("ip_policies", { description: "held" })["id"]);
    await world.apply(manifest("TCPEdge", "by-id", { ipRestriction: { ipPolicyRefs: [{ id: held }] } }));
    await world.ready("TCPEdge", "by-id");
    const domain = String(control.insert("reserved_domains", { domain: "listened.example.org" })["id"]);
    await world.apply(manifest("TCPEdge", "at-domain", { hostports: ["listened.example.org:443"] }));
    await world.ready("TCPEdge", "at-domain");
    expect((await run("users", domain)).stdout).toContain("TCPEdge/at-domain");
    const credential = String(control.insert("ssh_credentials", { public_key: ed25519PublicKey() })["id"]);
    control.addSession({ credential_id: credential });
    expect((await run("users", credential)).stderr).toMatch(/^1 tunnel session uses SSHCredential /);
    // An open create of an object of any namespace keeps all remotes that it may have made, also for other tests.
    await world.until("no open create keeps them", async () => {
      const { stdout } = await run("orphans", "--unmanaged", "-o", "json");
      return [...policies, held, edge, domain, credential].every((id) => stdout.includes(id));
    });
    const listed = (await run("orphans", "--unmanaged", "--no-headers")).stdout.split("\n");
    const lineOf = (id: string | undefined) => listed.find((line) => line.includes(` ${id} `));
    expect(lineOf(used)).toMatch(`; --delete begins with TCPEdge ${edge}`);
    expect([lineOf(free), lineOf(held)]).toEqual(Array(2).fill(expect.stringMatching(/nobody manages it$/)));
    control.clearRequests();
    const { code, stdout, stderr } = await run("orphans", "--unmanaged", "--delete", "--yes");
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        `Kept IPPolicy ${held}: Ask who runs TCPEdge \\S+/by-id to change it first: it uses this`,
      ),
    });
    expect(stderr).toContain(`Kept ReservedDomain ${domain}: TCPEdge/at-domain listens at it`);
    expect(stderr).toContain(`Kept SSHCredential ${credential}: 1 tunnel session uses it`);
    expect(stdout).toContain(`Deleted IPPolicy ${free}`);
    expect(stdout.indexOf(`Deleted TCPEdge ${edge}`)).toBeLessThan(stdout.indexOf(`Deleted IPPolicy ${used}`));
    expect(new Set(world.changesSent().map(({ method }) => method))).toEqual(new Set(["DELETE"]));
    expect(control.objects("ip_policies").map(({ id }) => id)).toEqual(expect.arrayContaining([held, policy]));
    control.clearRequests();
  });
});

test("what could be read is shown where a list is refused", async () => {
  world.simulator.control.fault({ method: "GET", path: "/reserved_domains", action: { status: 403 } });
  const { code, stdout, stderr } = await run("tree");
  world.simulator.control.clearFaults();
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("list /reserved_domains") });
  expect(stdout).toContain("TCPEdge/ssh");
});

test("a name that nothing has gets one clear line", async () => {
  expect(await run("users", "nothing")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no object/),
  });
});
