import type { Row } from "../../account/inventory.ts";
import { isUnsupported } from "../../gateway/errors.ts";
import type { Module } from "../../gateway/resource.ts";
import { identityOf } from "../../objects/identity.ts";
import { conditionOf, type ManagedObject } from "../../objects/object.ts";
import { Waiting } from "../../objects/reconcile-error.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { visible } from "../../schema/wire/applied.ts";
import type { Body } from "../../schema/wire/request.ts";
import { look, type Pass, remotesOf, sending } from "../context.ts";
import { plan } from "../desired/plan.ts";
import { appliedFields } from "../status/report.ts";

/**
 * Takes a part out of a remote by its own operation, and returns what is left. Where the service turns out not to have
 * the operation, the part is switched off instead, with its settings kept.
 */
export async function removePart(pass: Pass, member: string, row: Row): Promise<Row> {
  const { kind, account } = pass;
  const module = kind.modules[member];
  if (!module) throw new TypeError(`${kind.kind} declares no operation that removes ${member}`);
  if (account.supports(module, "delete") && (await isRemoved(pass, member, module, row))) {
    return { ...row, [member]: null };
  }
  const seen = fromAnswer(kind.spec, row)[member] as Body;
  if (seen["enabled"] === false) return row;
  return remotesOf(pass).update(row.id, { [member]: { ...seen, enabled: false } }, sending(pass));
}

async function isRemoved(pass: Pass, member: string, module: Module, { id }: Row): Promise<boolean> {
  try {
    await remotesOf(pass).removeModule(id, member, module, sending(pass));
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    pass.account.lacks(module, "delete");
    return false;
  }
  if (module.verbs.delete === "shown") return true;
  // a 404 can mean that it is not there, or that there is no such operation
  const row = await remotesOf(pass).find(id, sending(pass), true, [member]);
  const left = row?.[member] ?? undefined;
  if (left !== undefined) pass.account.lacks(module, "delete");
  return left === undefined;
}

/** Takes out of a remote that was made elsewhere what this object has put into it, and nothing else. */
export async function clear(pass: Pass): Promise<void> {
  const { kind, object, cluster, findings } = pass;
  // without a status a pass was interrupted before it could say what it sent
  const applied = visible(object.status?.appliedFields ?? (object.status?.id ? [] : appliedFields(kind, object.spec)));
  const id = object.status?.id ?? identityOf(kind, object, cluster);
  if (id === undefined) return;
  const settled = isSettled(object);
  let row = await look(pass, id, !settled);
  if (!row) return;
  const { body, remove } = plan(kind, { wanted: {}, seen: fromAnswer(kind.spec, row), applied, renewed: [] });
  if (Object.keys(body).length > 0) row = await remotesOf(pass).update(id, body, sending(pass));
  for (const member of remove) row = await removePart(pass, member, row);
  if (remove.length > 0) findings.deleted = id;
  if (!settled) waitForLate(pass);
}

/** Whatever was sent before the deletion was answered, and told; that it began is a generation of its own. */
function isSettled({ metadata, status }: ManagedObject): boolean {
  const synced = conditionOf(status, "Synced");
  return synced?.reason !== "ServiceUnavailable" && (synced?.observedGeneration ?? -1) >= metadata.generation - 1;
}

/** A module that is set once the object is gone would stay for ever. */
function waitForLate({ account }: Pass): void {
  const seconds = account.pendingSeconds;
  if (seconds === 0) return;
  throw new Waiting("Deleting", "Waiting until it is certain that no interrupted change arrives any more", {
    afterSeconds: seconds + 0.5,
  });
}
