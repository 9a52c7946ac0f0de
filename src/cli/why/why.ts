import { readAccountConfig } from "../../config.ts";
import { leavesSomeOut } from "../../objects/errors/sentence.ts";
import { adviceAndAnswerIn } from "../../objects/errors/service.ts";
import { conditionOf, isObserver } from "../../objects/object.ts";
import { type ClusterFlags, connect } from "../cluster/connect.ts";
import { reportPartial } from "../cluster/partial.ts";
import { type Scope, type ScopeFlags, scopeOf, whichOf } from "../cluster/scope.ts";
import { findNodes } from "../graph/find.ts";
import { graphOf, type Node, readyOf, titleOf } from "../graph/graph.ts";
import { readObjects } from "../graph/load.ts";
import { wantedBy } from "../graph/named.ts";
import { keyOf, nameOf } from "../graph/output.ts";
import { reachedFrom } from "../graph/reached.ts";
import { ageOf } from "../terminal/age.ts";
import { type OutputFlags, print, type Screen } from "../terminal/output.ts";
import { tableRows } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { wrappedLine } from "../terminal/wrapped.ts";
import { troublesIn } from "../tree/forest.ts";
import { createCommandOf } from "./create-command.ts";
import { eventsOf, type ObjectEvent } from "./events.ts";
import { nextLookOf } from "./next-look.ts";

type Flags = ClusterFlags & ScopeFlags & OutputFlags;

/** Most events that are shown for an object. */
const SHOWN = 5;

/** An object that the user named, and its events. */
interface Named {
  node: Node;
  /** Newest first. */
  events: readonly ObjectEvent[];
}

/** `why`: what keeps objects from being Ready, and what keeps that, down to the root. Reads the cluster only. */
export async function why(words: readonly string[], flags: Flags, terminal: Terminal): Promise<number> {
  const wanted = wantedBy(words);
  const problems: string[] = [];
  await using cluster = connect({ ...readAccountConfig({ KUBECONFIG: flags.kubeconfig }), context: flags.context });
  const scope = scopeOf(flags, cluster.namespace);
  const { objects } = await readObjects(cluster.client, whichOf(scope), problems, terminal);
  const graph = graphOf(new Map(), objects);
  const found = findNodes(graph, wanted, scope, problems);
  const told: Told = { scope, program: terminal.name, troubles: troublesIn(graph) };
  const named: Named[] = [];
  for (const node of found) {
    const events = node.object ? await eventsOf(cluster.client, node.object, problems) : [];
    named.push({ node, events: events.slice(0, SHOWN) });
  }
  print(
    {
      value: () => named.flatMap((one) => chainOf(one, told)),
      names: () => [...new Set(found.flatMap((node) => [...chainFrom(node, told)].map(nameOf)))],
      lines: (screen) =>
        named.flatMap((one, index) => [...(index > 0 ? [""] : []), ...linesOf(one, told, Date.now(), screen)]),
    },
    flags,
    terminal,
  );
  return reportPartial(problems, terminal);
}

/** With what the causes of an object are told. */
interface Told {
  /** Default: all namespaces. */
  scope?: Scope;
  /** How the user calls the program. */
  program?: string | undefined;
  /** To what those that are Ready lead, where that is not. */
  troubles?: ReadonlyMap<Node, Node>;
}

/** Each line with its indent, on as many lines as the terminal needs; below them the last events. */
function linesOf({ node, events }: Named, told: Told, now: number, options: Screen): string[] {
  const lines = [...causesOf(node, told), ...formerRefusal(node, events, now)];
  const broken = lines.flatMap((line) => wrappedLine(line, options.columns));
  if (events.length === 0) return broken;
  const rows = events.map(({ last, count, type, reason, message }) => [
    count > 1 ? `${ageOf(last, now)} (x${count})` : ageOf(last, now),
    ...[type, reason, message],
  ]);
  const shown = tableRows(["Last seen", "Type", "Reason", "Message"], rows, options);
  return [...broken, "", `Events of ${titleOf(node, told.scope)}, newest first`, ...shown.flat()];
}

/** The last refusal by the service, from the events, if the conditions no longer mention it. */
function formerRefusal(node: Node, events: readonly ObjectEvent[], now: number): string[] {
  const current = [readyOf(node).message, failureBehind(node)?.message ?? ""];
  if (current.some(adviceAndAnswerIn)) return [];
  const event = events.find(({ message }) => adviceAndAnswerIn(message));
  return event
    ? [
        `  The service last refused something ${ageOf(event.last, now)} ago: ${adviceAndAnswerIn(event.message)?.answer}`,
      ]
    : [];
}

/**
 * A line for an object, one for what its conditions say, and the same for each object that it waits for. Each object is
 * explained once: the ways through what waits can be far more than the objects. Also, a circle ends so.
 */
export function causesOf(root: Node, told: Told = {}): string[] {
  const { scope, program } = told;
  const lines: string[] = [];
  const explained = new Set<Node>();
  // No recursion: other people decide how deep this is.
  const open = [{ node: root, indent: "" }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, indent } = next;
    if (explained.has(node)) {
      lines.push(`${indent}${titleOf(node, scope)} is not Ready (see above)`);
      continue;
    }
    explained.add(node);
    const causes = causesBehind(node, told);
    const title = titleOf(node, scope);
    lines.push(...explanationOf({ node, title, indent, isWaiting: causes.length > 0, program }));
    open.push(...causes.map((cause) => ({ node: cause, indent: `${indent}  ` })).reverse());
  }
  return lines;
}

interface Explained {
  node: Node;
  title: string;
  indent: string;
  isWaiting: boolean;
  program?: string | undefined;
}

function explanationOf({ node, title, indent, isWaiting, program }: Explained): string[] {
  const { status, reason, message } = readyOf(node);
  const synced = failureBehind(node);
  const behind = synced ? messageLines(`${synced.reason}: ${synced.message}`, indent) : [];
  const looks = [...createWith(node, indent), ...lookAgain(node, indent)];
  if (status === "True")
    return [
      `${indent}${title} is Ready${isWaiting ? ", but leads to something that is not" : ""}`,
      ...inAccount(node, indent),
      ...drift(node, indent),
      ...behind,
      ...looks,
    ];
  const own =
    status === "" ? `${title} was not looked at yet: is the operator running?` : `${title} is not Ready: ${reason}`;
  return [
    `${indent}${own}`,
    ...(message ? messageLines(message, indent) : []),
    ...allUsers(node, indent, program),
    // If the object waits for others, their next looks matter and its own does not.
    ...(isWaiting ? [] : looks),
  ];
}

/** What the object is in the account, as its status says, and who manages that if this object does not. */
function inAccount({ kind, object }: Node, indent: string): string[] {
  const { id, ...status } = (object?.status ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== "string" || object === undefined) return [];
  const members = [...[kind.naturalKey ?? [], kind.address ?? []].flat(), ...ADDRESSES];
  const known = members.map((member) => status[member] ?? object.spec[member]).find(Boolean);
  const text = [known ?? []].flat().join(", ");
  const others = isObserver(object) ? ". This object only observes it: it does not manage it" : "";
  return [`${indent}  In the account: ${id}${text && `, ${text}`}${others}`];
}

/** What the account has otherwise, and the operator leaves so. */
function drift({ object }: Node, indent: string): string[] {
  const drifted = conditionOf(object?.status, "Drifted");
  return drifted?.status === "True" ? [`${indent}  Differs from the account: ${drifted.message}`] : [];
}

/** Fields of a status that say where something is reached, besides those that its kind names. */
const ADDRESSES = ["hostports"];

/** A message below an object. A refusal by the service gets a line of its own. */
function messageLines(message: string, indent: string): string[] {
  const refusal = adviceAndAnswerIn(message);
  const lines = refusal ? [refusal.wayOut, `The service answered: ${refusal.answer}`] : [message];
  return lines.map((line) => `${indent}  ${line}`);
}

/** A message has no room for many users. */
function allUsers(node: Node, indent: string, program = "kubectl tunnelgateway"): string[] {
  const { reason, message } = readyOf(node);
  if (reason !== "InUse" || node.object === undefined || !leavesSomeOut(message)) return [];
  const { namespace, name } = node.object.metadata;
  const command = `${program} users ${node.kind.kind.toLowerCase()}/${name} -n ${namespace}`;
  return [`${indent}  See all of them with: ${command}`];
}

function createWith({ kind, object }: Node, indent: string): string[] {
  const command = object && createCommandOf(kind, object);
  return command ? [`${indent}  Create it with: ${command}`] : [];
}

function lookAgain({ object }: Node, indent: string): string[] {
  const when = object && nextLookOf(object);
  return when ? [`${indent}  The operator looks again ${when}`] : [];
}

/** The last call to the service failed, whatever Ready says. */
function failureBehind({ object }: Node): { reason: string; message: string } | undefined {
  const synced = conditionOf(object?.status, "Synced");
  return synced?.status === "False" ? synced : undefined;
}

const waitsFor = (node: Node): Node[] =>
  readyOf(node).status === "True"
    ? []
    : [...node.uses].filter((used) => used.object && readyOf(used).status !== "True");

/** What it waits for or, if it is Ready, to what it leads that is not. */
const causesBehind = (node: Node, { troubles }: Told): Node[] => [
  ...waitsFor(node),
  ...[troubles?.get(node) ?? []].flat(),
];

/** An object and everything that it waits for, each once. */
const chainFrom = (root: Node, told: Told): Set<Node> => reachedFrom([root], (node) => causesBehind(node, told));

function chainOf({ node: root, events }: Named, told: Told): object[] {
  return [...chainFrom(root, told)].map((node) => {
    const trouble = told.troubles?.get(node);
    const { status: ready, reason, message } = readyOf(node);
    const behind = failureBehind(node);
    const answer = adviceAndAnswerIn(behind?.message ?? message)?.answer ?? adviceAndAnswerIn(message)?.answer;
    const nextLook = node.object && nextLookOf(node.object);
    const createWith = node.object && createCommandOf(node.kind, node.object);
    return {
      kind: node.kind.kind,
      namespace: node.object?.metadata.namespace,
      name: node.object?.metadata.name,
      ready,
      reason,
      message,
      ...(behind && { behind: { reason: behind.reason, message: behind.message } }),
      ...(answer && { answer }),
      ...(createWith && { createWith }),
      ...(nextLook && { nextLook }),
      ...(node === root && { events }),
      waitsFor: waitsFor(node).map(keyOf),
      ...(trouble && { leadsTo: keyOf(trouble) }),
    };
  });
}
