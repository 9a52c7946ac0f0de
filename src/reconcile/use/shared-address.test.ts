import { beforeEach, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";

// The API page does not say whether an account may have two edges on one address, and which of them gets the traffic.

let scene: Scene;
let older: ManagedObject;

beforeEach(async () => {
  scene = new Scene();
  older = await scene.apply(TCPEdge, "older", { hostports: ["1.tcp.example:443"] });
});

const ready = (object: ManagedObject) => {
  const { status, message } = scene.condition(object, "Ready") ?? {};
  return `${status}: ${message}`;
};
const WELL = "True: Exists in the account as specified";
const SHARED =
  "True: Give this or TCPEdge team-a/older another address than 1.tcp.example:443: both listen there, and only one may get its traffic";

it.each([TCPEdge, TLSEdge])("the younger of two says it, whatever its kind: $kind", async (kind) => {
  const younger = await scene.apply(kind, "younger", { hostports: ["1.TCP.example.:443"] });
  expect(ready(younger)).toBe(SHARED);
  await scene.reconcile(older);
  expect(ready(older)).toBe(WELL);
});

it("the younger one says it no longer when the older one is being deleted", async () => {
  const younger = await scene.apply(TLSEdge, "younger", { hostports: ["1.tcp.example:443"] });
  scene.cluster.delete(older);
  await scene.reconcile(younger);
  expect(ready(younger)).toBe(WELL);
});

it("objects of one remote are not two that listen", async () => {
  const id = scene.idOf(older);
  const observer = await scene.apply(TCPEdge, "observer", { managementPolicy: "ObserveOnly", adopt: { id } });
  expect(scene.condition(observer, "Ready")?.message).toBe("Exists in the account as specified");
});
