import type { ObjectState } from "./objects.ts";

/** An object that is Ready, unless `members` say otherwise. */
export const objectState = (members: Partial<ObjectState> = {}): ObjectState => ({
  kind: "IPPolicy",
  name: "office",
  ready: "True",
  reason: "Available",
  message: "The resource exists",
  id: "ipp_1",
  generation: 1,
  deleting: false,
  stalled: false,
  current: true,
  ...members,
});

export const waitingState = (members: Partial<ObjectState> = {}): ObjectState =>
  objectState({ ready: "False", reason: "ReferenceNotReady", message: "Waiting for another", id: "", ...members });
