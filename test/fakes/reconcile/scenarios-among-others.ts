import type { ManagedObject } from "../../../src/objects/object.ts";
import { type Owner, withOwnerMark } from "../../../src/objects/ownership.ts";
import { annotations } from "../../../src/schema/contract.ts";
import type { Kind } from "../../../src/schema/define.ts";
import {
  annotate,
  edit,
  foreign,
  hasNaturalKey,
  isCollection,
  isEditable,
  isReferredTo,
  isTypical,
  isUpdated,
  loseStatus,
  remove,
  removed,
  type Scenario,
  steps,
} from "./scenario-steps.ts";
import type { Stage } from "./stage.ts";

const isTypicalCollection = (kind: Kind): boolean => isTypical(kind) && isCollection(kind);
const isMarked = (kind: Kind): boolean => isTypicalCollection(kind) && kind.resource.create.includes("metadata");

/** Somebody writes the mark of another owner, and the operator lists it. */
async function mark({ kind, scene, object }: Stage, owner: Owner): Promise<void> {
  scene.gateway.change(kind.resource, scene.idOf(object), { metadata: withOwnerMark(undefined, owner) });
  await scene.resync(kind);
}

const elsewhere: Owner = { cluster: "c2", namespace: "team-b", name: "other" };

/** Another object of the kind, in another namespace, that is to have the same remote. The lines go on with it. */
function turnToRival(stage: Stage, adopt: object, more: object = {}): ManagedObject {
  const { scene, kind, spec } = stage;
  const whole = { ...spec, ...more, ...(isCollection(kind) && { adopt }) };
  const rival = scene.cluster.apply(kind, "rival", whole, { namespace: "team-b" });
  stage.turnTo(rival);
  return rival;
}

/** The object that holds the remote is deleted. The lines go on with the rival. */
async function endHolder(stage: Stage, holder: ManagedObject, rival: ManagedObject): Promise<void> {
  stage.turnTo(holder);
  await removed(stage, "holder deleted");
  stage.turnTo(rival);
}

const remoteOf = ({ scene, object }: Stage): string => scene.idOf(object);

/** Another object, `team-b/ended`, has come and gone. */
const adoptionOfMarked = (owner: Owner): Scenario => ({
  only: isMarked,
  run: async (stage) => {
    const { scene, kind, spec } = stage;
    await stage.prepare();
    scene.cluster.delete(scene.cluster.apply(kind, "ended", spec, { namespace: "team-b" }));
    const id = await foreign(stage);
    scene.gateway.change(kind.resource, id, { metadata: withOwnerMark(undefined, owner) });
    stage.apply({ adopt: { id } });
    await stage.settle("applied");
    await removed(stage);
  },
});

/** The service cannot delete such remotes, or refuses to. */
const undeletable: Record<string, (stage: Stage) => Promise<void> | void> = {
  "cannot be deleted": ({ scene, kind }) => scene.confirmLack(kind.resource, "delete"),
  ...Object.fromEntries(
    [400, 403, 500].map((status) => [
      `is not deleted, with ${status}`,
      ({ scene }: Stage) => {
        for (let count = 0; count < 3; count += 1) scene.gateway.refuse("delete", status);
      },
    ]),
  ),
};

/** The deletion of a remote that cannot be deleted, while something does not let it wait. */
const ended = (given: string, prepare: (stage: Stage) => void): Record<string, Scenario> =>
  Object.fromEntries(
    Object.entries(undeletable).map(([what, refuse]) => [
      `${given}, and the remote ${what}`,
      {
        only: isTypicalCollection,
        run: steps({
          deleted: async (stage) => {
            await refuse(stage);
            prepare(stage);
            remove(stage);
          },
          "three minutes later": ({ scene }) => scene.clock.advance(180_000),
        }),
      },
    ]),
  );

/** Scenarios with other objects, clusters and people, by the name of the golden file. */
export const scenariosAmongOthers: Record<string, Record<string, Scenario>> = {
  others: {
    "another cluster marks the remote": {
      only: isMarked,
      run: steps({ marked: (stage) => mark(stage, elsewhere), edited: edit, deleted: remove }),
    },
    ...Object.fromEntries(
      [
        { whose: "another cluster", owner: elsewhere },
        { whose: "an object of this cluster that nobody knows", owner: { ...elsewhere, cluster: "c1" } },
        { whose: "an object of this cluster that has ended", owner: { ...elsewhere, cluster: "c1", name: "ended" } },
      ].map(({ whose, owner }) => [`the remote to adopt has the mark of ${whose}`, adoptionOfMarked(owner)]),
    ),
    "somebody takes the mark away": {
      only: isMarked,
      run: steps({
        "taken away": async ({ kind, scene, object }) => {
          scene.gateway.change(kind.resource, scene.idOf(object), { metadata: "" });
          await scene.resync(kind);
        },
        restored: loseStatus,
      }),
    },
    "an object of another namespace wants the remote, and gets it in the end": {
      only: isTypicalCollection,
      run: async (stage) => {
        await stage.given({ deletionPolicy: "Retain" });
        const { object } = stage;
        const rival = turnToRival(stage, { id: remoteOf(stage) });
        await stage.settle("refused");
        await endHolder(stage, object, rival);
        await stage.settle("wants it");
        await removed(stage);
      },
    },
    "an object of another namespace observes the remote": {
      only: isTypicalCollection,
      run: async (stage) => {
        await stage.given();
        const { object } = stage;
        const rival = turnToRival(stage, { id: remoteOf(stage) }, { managementPolicy: "ObserveOnly" });
        await stage.settle("observed");
        await endHolder(stage, object, rival);
        await stage.settle("looked at again");
      },
    },
    "another object has the name": {
      only: hasNaturalKey,
      run: async (stage) => {
        await stage.given();
        turnToRival(stage, { existing: true });
        await stage.settle("refused");
        turnToRival(stage, {});
        await stage.settle("refused without adopt");
      },
    },
    "it moves to an object of another namespace": {
      only: isTypical,
      run: async (stage) => {
        await stage.given();
        const { object } = stage;
        annotate(stage, annotations.releaseTo, "team-b/rival");
        await stage.settle("released");
        const { namespace, name } = object.metadata;
        const rival = turnToRival(stage, { id: remoteOf(stage), from: `${namespace}/${name}` });
        await stage.settle("taken over");
        stage.turnTo(object);
        await stage.settle("afterwards");
        await removed(stage);
        stage.turnTo(rival);
        await stage.settle("holds it alone");
        await removed(stage, "deleted there");
      },
    },
    "it is asked for by an object to which it is not released": {
      only: isTypical,
      run: async (stage) => {
        await stage.given();
        const { namespace, name } = stage.object.metadata;
        turnToRival(stage, { id: remoteOf(stage), from: `${namespace}/${name}` });
        await stage.settle("refused");
      },
    },
    "the cluster gets another id": {
      only: isTypical,
      run: steps({ renamed: ({ scene }) => scene.changeClusterID("c9"), edited: edit, deleted: remove }),
    },
    "objects of the kind cannot be read": {
      only: isTypical,
      run: steps({
        unread: ({ scene, kind }) => void scene.cluster.visibility.set(kind.kind, "Unreadable"),
        edited: edit,
        deleted: remove,
        "read again": ({ scene, kind }) => void scene.cluster.visibility.delete(kind.kind),
      }),
    },
    "objects of another namespace cannot be read": {
      only: isTypical,
      run: async (stage) => {
        stage.scene.cluster.unread.push("team-b");
        await stage.prepare();
        stage.apply();
        await stage.settle("created");
        edit(stage);
        await stage.settle("edited");
        await removed(stage);
        stage.scene.cluster.unread.length = 0;
        await stage.settle("read again");
      },
    },
    "an intent is there that somebody else has written": {
      only: isTypical,
      run: async (stage) => {
        await stage.prepare();
        const id = await foreign(stage);
        stage.apply();
        annotate(stage, annotations.createIntent, `2026-01-01T00:00:00.000Z/2026-01-01T00:00:00.000Z old=${id}`);
        await stage.settle("created");
        await removed(stage);
      },
    },
  },
  account: {
    "lists leave out the metadata": {
      only: isTypicalCollection,
      run: steps({
        hidden: ({ scene }) => {
          scene.gateway.unlisted.add("metadata");
          scene.restart();
        },
        edited: edit,
        restored: loseStatus,
        deleted: remove,
      }),
    },
    "lists leave out what the spec sets": {
      only: (kind) => isTypical(kind) && isUpdated(kind),
      run: steps({
        hidden: ({ scene, kind }) => {
          for (const member of kind.resource.update) scene.gateway.unlisted.add(member);
          scene.restart();
        },
        edited: edit,
        deleted: remove,
      }),
    },
    "rows cannot be read": {
      only: isTypicalCollection,
      run: steps({
        unreadable: async ({ scene, kind, object }) => {
          scene.gateway.unreadable.add(scene.idOf(object));
          scene.restart();
          await scene.resync(kind);
        },
        edited: edit,
        deleted: remove,
      }),
    },
    "one delete a minute": {
      options: { deletesPerMinute: 1 },
      only: isTypicalCollection,
      run: async (stage) => {
        await stage.given();
        stage.scene.account.deleteLimiter.secondsUntilTurn("another", "team-b");
        await removed(stage);
      },
    },
    "all remotes are missing": {
      only: isTypicalCollection,
      run: steps({
        missing: lose,
        edited: edit,
        deleted: remove,
        "two minutes later": ({ scene }) => scene.clock.advance(120_000),
      }),
    },
    "a restored object, while all remotes are missing": {
      only: isTypicalCollection,
      run: steps({
        missing: async (stage) => {
          await lose(stage);
          loseStatus(stage);
        },
        deleted: remove,
      }),
    },
    "an outage of ten minutes": {
      only: isTypical,
      run: async (stage) => {
        await stage.given();
        const { beforeCall } = stage.scene.gateway;
        const since = stage.scene.clock.now();
        stage.scene.gateway.beforeCall = (call) => {
          beforeCall(call);
          if (stage.scene.clock.now() - since < 600_000) stage.scene.gateway.refuse(call.verb, 503);
        };
        if (isEditable(stage.kind)) edit(stage);
        else remove(stage);
        await stage.settle("begun", 16);
      },
    },
  },
  "ends-among-others": {
    ...ended("the namespace goes", ({ scene }) => {
      scene.cluster.namespaceDeleting = true;
    }),
    ...ended("the operator is uninstalled", (stage) => annotate(stage, annotations.uninstalling)),
    "the operator is uninstalled, and another cluster has marked the remote": {
      only: isMarked,
      run: steps({
        deleted: async (stage) => {
          await mark(stage, elsewhere);
          annotate(stage, annotations.uninstalling);
          remove(stage);
        },
        orphaned: (stage) => annotate(stage, annotations.orphan),
      }),
    },
    "the operator is uninstalled, and something refers to it": {
      only: isReferredTo,
      run: async (stage) => {
        await stage.given();
        await stage.addReferrers();
        annotate(stage, annotations.uninstalling);
        await removed(stage);
      },
    },
    "other controllers hold the object": {
      only: isTypical,
      run: steps({
        deleted: (stage) => {
          stage.scene.cluster.apply(stage.kind, stage.object.metadata.name, stage.object.spec, {
            finalizers: [...(stage.scene.cluster.now(stage.object).metadata.finalizers ?? []), "example.com/other"],
          });
          remove(stage);
        },
      }),
    },
  },
};

/** Six other objects of the kind, and no remote of any of them is in the account any more. */
async function lose(stage: Stage): Promise<void> {
  const { kind, scene } = stage;
  for (let count = 0; count < 6; count += 1) {
    const { naturalKey = "name" } = kind;
    const other = scene.cluster.apply(kind, `other-${count}`, { ...stage.spec, [naturalKey]: `${count}.example.com` });
    await scene.reconcile(other);
  }
  for (const { id } of scene.gateway.remotesOf(kind.resource)) scene.gateway.drop(kind.resource, id);
  await scene.resync(kind);
}
