import { annotations } from "../../../src/schema/contract.ts";
import {
  annotate,
  begun,
  createOnly,
  drift,
  drop,
  edit,
  foreign,
  hasNaturalKey,
  isCollection,
  isEditable,
  isReferredTo,
  isTypical,
  isUpdated,
  killed,
  loseStatus,
  readsSecrets,
  refused,
  remove,
  removed,
  type Scenario,
  steps,
} from "./scenario-steps.ts";

/** What may happen to an object, by the file of goldens that tells what the operator does then. */
export const scenarios: Record<string, Record<string, Scenario>> = {
  life: {
    "created, looked at again, and deleted": {
      run: async (stage) => {
        await begun.create(stage);
        await stage.settle("created");
        await stage.scene.clock.advance(300_000);
        await stage.look("later");
        await removed(stage);
      },
    },
    "created before what it refers to": {
      run: async (stage) => {
        stage.apply();
        await stage.look("created");
        await stage.prepare();
        await stage.settle("then");
      },
    },
    "created, while members are not to be tried": { options: { undocumented: false }, run: steps({ edited: edit }) },
    "edited and put back": { only: isEditable, run: steps({ edited: edit, "put back": (stage) => stage.apply() }) },
    "changed by somebody else": {
      only: isUpdated,
      run: steps({
        corrected: drift,
        "to report": (stage) => stage.apply({ driftPolicy: "Report" }),
        reported: drift,
        "edited meanwhile": (stage) => edit(stage, { driftPolicy: "Report" }),
        "to correct": (stage) => stage.apply(),
      }),
    },
    "deleted by somebody else": { only: isCollection, run: steps({ missing: drop }) },
    paused: {
      run: steps({
        paused: (stage) => annotate(stage, annotations.paused),
        edited: edit,
        resumed: (stage) => annotate(stage, annotations.paused, "false"),
      }),
    },
    "paused and deleted": {
      run: steps({
        paused: (stage) => annotate(stage, annotations.paused),
        deleted: remove,
        resumed: (stage) => annotate(stage, annotations.paused, "false"),
      }),
    },
    "asked to reconcile": { run: steps({ asked: (stage) => annotate(stage, annotations.reconcileRequestedAt, "1") }) },
  },
  "refused-create": refused("create", (kind) => isTypical(kind) && isCollection(kind)),
  "refused-update": refused("update", (kind) => isTypical(kind) && isUpdated(kind)),
  "refused-delete": refused("delete", (kind) => isTypical(kind) && isCollection(kind)),
  killed: {
    ...killed("create", isTypical),
    ...killed("update", (kind) => isTypical(kind) && isEditable(kind)),
    ...killed("delete", isTypical),
  },
  replaced: {
    "an update is refused with 405 and the object may be replaced": {
      only: isUpdated,
      run: steps(
        {
          edited: (stage) => {
            stage.scene.gateway.refuse("update", 405);
            edit(stage, { replacement: "Recreate" });
          },
        },
        { replacement: "Recreate" },
      ),
    },
    "updates are known to be lacking": {
      only: isUpdated,
      run: steps({
        lacking: (stage) => stage.scene.confirmLack(stage.kind.resource, "update"),
        edited: edit,
        "may be replaced": (stage) => edit(stage, { replacement: "Recreate" }),
      }),
    },
    "a field that only a create takes is edited, while something refers to the object": {
      only: (kind) => createOnly(kind) !== undefined,
      run: async (stage) => {
        await stage.given();
        await stage.addReferrers();
        stage.apply({ [createOnly(stage.kind) ?? ""]: undefined });
        await stage.settle("edited", 6);
        await removed(stage, "deleted", 6);
      },
    },
  },
  found: {
    "by its id": {
      only: isCollection,
      run: async (stage) => {
        await stage.prepare();
        stage.apply({ adopt: { id: await foreign(stage) } });
        await stage.settle("adopted");
        await removed(stage);
      },
    },
    "by its id, without the right to adopt": {
      only: isCollection,
      run: async (stage) => {
        await stage.prepare();
        stage.scene.mayAdopt = false;
        stage.apply({ adopt: { id: await foreign(stage) } });
        await stage.settle("refused");
      },
    },
    "by an id that is not there": {
      only: isCollection,
      run: async (stage) => {
        await stage.prepare();
        stage.apply({ adopt: { id: `${stage.kind.resource.idPrefix}none` } });
        await stage.settle("refused");
      },
    },
    "by its name": {
      only: hasNaturalKey,
      run: async (stage) => {
        await stage.prepare();
        await foreign(stage);
        stage.apply();
        await stage.settle("refused");
        stage.apply({ adopt: { existing: true } });
        await stage.settle("adopted");
        stage.apply({ adopt: { existing: true }, deletionPolicy: "Delete" });
        await removed(stage);
      },
    },
    "observed, then held": {
      only: isCollection,
      run: async (stage) => {
        await stage.prepare();
        const adopt = { id: await foreign(stage) };
        stage.apply({ adopt, managementPolicy: "ObserveOnly" });
        await stage.settle("observed");
        stage.apply({ adopt });
        await stage.settle("held");
        stage.apply({ adopt, managementPolicy: "ObserveOnly" });
        await stage.settle("observed again");
        await removed(stage);
      },
    },
    "again, without its status": { run: steps({ restored: loseStatus, deleted: remove }) },
    "again, without its status and its intent": {
      run: steps({
        restored: (stage) => {
          stage.scene.cluster.removeAnnotation(stage.object, annotations.createIntent);
          loseStatus(stage);
        },
        deleted: remove,
      }),
    },
    "again, without its status, under deletion": {
      run: steps({
        deleted: (stage) => {
          loseStatus(stage);
          remove(stage);
        },
      }),
    },
  },
  ends: {
    "the remote is to stay": { run: steps({ deleted: remove }, { deletionPolicy: "Retain" }) },
    "the object is to be orphaned": {
      run: steps({ orphan: (stage) => annotate(stage, annotations.orphan), deleted: remove }),
    },
    "the remote was deleted by somebody else": {
      only: isCollection,
      run: steps({
        deleted: ({ kind, scene, object }) => {
          scene.gateway.drop(kind.resource, scene.idOf(object));
          scene.cluster.delete(object);
        },
      }),
    },
    "something refers to it": {
      only: isReferredTo,
      run: async (stage) => {
        await stage.given();
        await stage.addReferrers();
        await removed(stage);
        await stage.removeReferrers();
        await stage.settle("free");
      },
    },
    "something refers to it, and the namespace goes": {
      only: isReferredTo,
      run: async (stage) => {
        await stage.given();
        await stage.addReferrers();
        stage.scene.cluster.namespaceDeleting = true;
        await removed(stage);
      },
    },
    "the kind goes": {
      run: steps({
        deleted: (stage) => {
          stage.scene.cluster.kindsDeleting.add(stage.kind.kind);
          remove(stage);
        },
      }),
    },
    "it is released to another object": {
      run: steps({ released: (stage) => annotate(stage, annotations.releaseTo, "team-b/new"), deleted: remove }),
    },
    "the account is gone for good": {
      run: steps({
        deleted: (stage) => {
          stage.scene.cluster.isAccountAbandoned = true;
          remove(stage);
        },
      }),
    },
  },
  secrets: {
    "values change, and go": {
      only: readsSecrets,
      run: steps({
        changed: (stage) => stage.changeSecrets(),
        gone: (stage) => stage.removeSecrets(),
        back: (stage) => stage.changeSecrets(),
      }),
    },
    "values are not there yet": {
      only: readsSecrets,
      run: async (stage) => {
        await stage.prepare();
        stage.removeSecrets();
        stage.apply();
        await stage.settle("created", 3);
        stage.changeSecrets();
        await stage.settle("there");
      },
    },
    "what is written is lost": {
      only: ({ output }) => output !== undefined,
      run: steps({
        lost: ({ scene, object }) => scene.cluster.removeSecret(String(scene.cluster.now(object).status?.outputSecret)),
        renamed: (stage) => stage.apply({ [stage.kind.output?.field ?? ""]: "another" }),
        retained: (stage) => stage.apply({ deletionPolicy: "Retain" }),
        deleted: remove,
      }),
    },
  },
  fields: {
    "each field that may be unset is taken out, and put back": {
      run: async (stage) => {
        await stage.given();
        stage.namesMembers = true;
        for (const field of stage.optional) {
          stage.apply({ [field]: undefined });
          await stage.settle(`without ${field}`, 3);
          stage.apply();
          await stage.settle(`with ${field}`, 3);
        }
      },
    },
  },
};
