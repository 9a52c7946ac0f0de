import { withArticle } from "../../schema/nouns.ts";
import { blocked, retry, waiting } from "./declare.ts";
import type { Titled } from "./values.ts";

// On the way of a create or an update. `title`: of the resource. `fields`: as `specFields` names them.

interface Fields {
  fields: string;
}

export const createInterrupted = waiting(
  "Creating",
  () => "Waiting until it is certain that an interrupted create came to nothing",
  {},
);

export const createNotRecorded = retry(
  "Creating",
  () => "Waiting to try again, no action is needed: recording the create took longer than it may",
  {},
);

export const createContinued = retry("Creating", () => "Continuing, no action is needed: the remote was created", {});

/** `left`: how many. */
export const marksUnlisted = waiting(
  "Creating",
  ({ left, title }: Titled & { left: number }) =>
    `Reading ${left} more of the account, one by one: its lists do not show to whom ${withArticle(title)} belongs`,
  { left: 12, title: "reserved domain" },
);

/** What comes next, once the id is written down. */
export type Step =
  | "Replacing the resource"
  | "Updating the resource"
  | "Continuing, no action is needed: the remote was created";

export const updateUnderWay = waiting(
  "Updating",
  ({ step }: { step: Step }) => step,
  { step: "Replacing the resource" },
  { step: "Updating the resource" },
  { step: "Continuing, no action is needed: the remote was created" },
);

export const answerDiffers = retry(
  "Updating",
  ({ fields }: Fields) => `Sending again: the service answered with other values for ${fields}`,
  { fields: "spec.description" },
);

export const updateUnsettled = waiting(
  "Updating",
  ({ what }: { what: string }) => `Waiting until it is certain that no interrupted ${what} arrives any more`,
  { what: "change of spec.description" },
);

export const entriesLoseKind = retry(
  "Updating",
  ({ kind }: { kind: string }) =>
    `Waiting until the ${kind} objects are gone, no action is needed: their definition is being deleted, and their entries stay`,
  { kind: "EventSource" },
);

export const updateRefused = retry(
  "UpdateUnsupported",
  ({ title }: Titled) =>
    `Waiting to try again, no action is needed yet: the service refuses to update ${withArticle(title)}`,
  { title: "reserved domain" },
);

export const fieldImmutable = blocked(
  "ImmutableField",
  ({ fields, title }: Fields & Titled) =>
    `Correct ${fields} or create a new object: ${withArticle(title)} cannot change it, and the account has another value`,
  { fields: "spec.region", title: "reserved address" },
);

export const replacementRequired = blocked(
  "ReplacementRequired",
  ({ fields, title }: Fields & Titled) =>
    `Delete and recreate this object to change ${fields}: the service cannot update ${withArticle(title)}`,
  { fields: "spec.description", title: "reserved domain" },
);

/** `parent`: the id of the remote that has the list. */
export const parentMissing = waiting(
  "ReferenceNotReady",
  ({ title, parent }: Titled & { parent: string }) =>
    `Name another ${title}, or delete this object: the account has no ${parent}`,
  { title: "event subscription", parent: "esb_2b7Kq" },
);
