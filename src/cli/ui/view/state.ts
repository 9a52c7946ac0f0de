import { objectOf, ownerMarkOf, parseMark } from "../../../objects/ownership.ts";
import { type Node, readyOf } from "../../graph/graph.ts";
import { isPausedNow, isStalled } from "../../status/summary.ts";
import { type Html, html } from "./html.ts";

/** What people look for first. Each has a colour and a sign, since not everybody sees the colours. */
export const states = {
  attention: { sign: "!", label: "needs a person" },
  waiting: { sign: "…", label: "waits" },
  paused: { sign: "‖", label: "paused" },
  deleting: { sign: "−", label: "is being deleted" },
  ready: { sign: "✓", label: "Ready" },
  unknown: { sign: "?", label: "not known" },
  none: { sign: "◌", label: "no object" },
  other: { sign: "⇄", label: "of another cluster" },
} as const;

export type State = keyof typeof states;

/** `clusterID`: of this cluster, as owner marks have it. */
export function stateOf(node: Node, clusterID: string | undefined): State {
  const { object, remote } = node;
  if (!object) {
    const owner = remote && parseMark(ownerMarkOf(remote));
    return owner && clusterID !== undefined && owner.cluster !== clusterID ? "other" : "none";
  }
  if (object.metadata.deletionTimestamp) return "deleting";
  if (isStalled(object)) return "attention";
  if (isPausedNow(object)) return "paused";
  const { status } = readyOf(node);
  if (status === "") return "unknown";
  return status === "True" ? "ready" : "waiting";
}

/** What a remote without an object of this cluster says of its owner. */
export function ownerText({ object, remote }: Node): string | undefined {
  const mark = object ? undefined : remote && ownerMarkOf(remote);
  const owner = parseMark(mark);
  return owner && `${objectOf(mark)} in cluster ${owner.cluster}`;
}

/** Words in the colour of a state, where its sign would say something else. */
export const tinted = (state: State, words: string): Html => html`<span class="badge ${state}">${words}</span>`;

export const badge = (state: State, words?: string): Html =>
  html`<span class="badge ${state}"><span aria-hidden="true">${states[state].sign}</span> ${words ?? states[state].label}</span>`;
