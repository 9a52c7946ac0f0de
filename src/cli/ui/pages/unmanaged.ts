import { DEFAULT_ACCOUNT } from "../../../schema/contract.ts";
import { flagOf } from "../../cluster/scope.ts";
import { knownAs, type Node, titleOf, usersOf } from "../../graph/graph.ts";
import { keyOf } from "../../graph/output.ts";
import { sessionsOf } from "../../graph/sessions.ts";
import { manifestsOf } from "../../import/manifest.ts";
import { nameSourceOf, namesOf } from "../../import/names.ts";
import { leftovers, reasonOf, withoutRemote } from "../../orphans/orphans.ts";
import { linesOf as linesOfYAML } from "../../terminal/kubernetes-yaml.ts";
import { shellWord } from "../../terminal/shell.ts";
import type { View } from "../reading/view.ts";
import { type Html, html } from "../view/html.ts";
import { commandOf, empty, linesOf, nodeLink, section, tableOf } from "../view/parts.ts";

/** Most rows of one list. */
const MOST = 200;

type Read = Pick<View, "own" | "read" | "clusterID" | "account">;

/** By the graph of a view, which several pages show. */
const kept = new WeakMap<View["own"], Node[]>();

function remotesIn({ own: graph, read, clusterID, account }: Read): Node[] {
  if (!account.found) return [];
  const found = kept.get(graph) ?? leftovers({ graph, objects: read.objects, clusterID }, true);
  kept.set(graph, found);
  return found;
}

/** How many resources of the account no object manages, as far as it was read. */
export const unmanagedIn = (view: Read): number => remotesIn(view).length;

const notRead = ({ at }: View["account"]): string =>
  at === 0 ? "The account is being read." : "The account could not be read.";

/** What the account has that no object manages, and objects whose remotes are gone: as `orphans --unmanaged`. */
export function unmanaged({ own: graph, read, clusterID, account, scope }: View): Html {
  const judged = { graph, objects: read.objects, clusterID };
  const orphans = `orphans --unmanaged ${flagOf(scope)}`;
  const remotes = remotesIn({ own: graph, read, clusterID, account });
  const gone = withoutRemote(graph);
  const rows = remotes
    .slice(0, MOST)
    .map((node) => [
      nodeLink(keyOf(node), titleOf(node)),
      knownAs(node.kind, node.remote),
      String(usersOf(node).length + sessionsOf(graph.sessions, node.id).length),
      reasonOf(node, judged),
      html`<details><summary>Manifest</summary>${adoption(node, account)}</details>`,
    ]);
  const none = account.found ? "Everything in the account has its object." : notRead(account);
  return html`${section(
    "unmanaged",
    "In the account, and no object manages it",
    html`${rows.length === 0 ? empty(none) : tableOf("Remotes without an object", ["What", "Known as", "Used by", "Why", "To adopt it"], rows)}
${remotes.length > MOST && html`<p>And ${remotes.length - MOST} more: ${commandOf(orphans)}</p>`}`,
    orphans,
  )}
${section(
  "gone",
  "Objects whose remotes are gone",
  gone.length === 0
    ? empty(account.found ? "Each object has its remote." : notRead(account))
    : tableOf(
        "Objects whose remotes are gone",
        ["Object", "Namespace", "ID"],
        gone
          .slice(0, MOST)
          .map((node) => [nodeLink(keyOf(node), titleOf(node)), node.object?.metadata.namespace, node.id]),
      ),
  `orphans ${flagOf(scope)}`,
)}`;
}

/** The manifest that adopts a remote, as `import` writes it. */
export function adoption({ kind, remote, id = "" }: Node, { found }: View["account"]): Html {
  if (!remote) return empty("The account shows nothing of it.");
  const name = namesOf(kind, [remote], nameSourceOf("domain"), new Set()).get(id) ?? id;
  const account = found?.credentials.gatewayAccount?.name;
  const accountRef = account === DEFAULT_ACCOUNT ? undefined : account;
  const { manifests, refused } = manifestsOf([{ kind, remote, name }], {
    namespace: undefined,
    mark: true,
    accountRef,
  });
  const lines = manifests.flatMap(({ yaml }) => linesOfYAML(yaml));
  return html`${refused.map(({ refusal }) => html`<p>No object can be like it: ${refusal}</p>`)}
${lines.length > 0 && linesOf(`Manifest that adopts ${id}`, lines)}
<div class="line">${commandOf(`import ${shellWord(id)}`)}</div>`;
}
