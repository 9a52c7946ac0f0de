import { readAccountConfig } from "../../../config.ts";
import type { KubeClient } from "../../../runtime/connection/client.ts";
import type { AccountFlags } from "../../account/credentials.ts";
import { type Scope, whichOf } from "../../cluster/scope.ts";
import { type Graph, graphOf } from "../../graph/graph.ts";
import { clusterIDOf, graphBeside, graphWith, type ReadObjects, readObjects } from "../../graph/load.ts";
import { problemOfID } from "../../orphans/orphans.ts";
import { observe } from "../../status/status.ts";
import { type Summary, summaryOf } from "../../status/summary.ts";
import { KeptAccount, type KeptRead } from "./account.ts";
import type { Change } from "./changes.ts";
import { WatchedCluster } from "./cluster.ts";
import { Samples } from "./samples.ts";

/** Everything that a page is made of, as it was at one time. */
export interface View {
  now: number;
  scope: Scope;
  summary: Summary;
  read: ReadObjects;
  /** The account that is read, and of other accounts what the cluster knows. */
  graph: Graph;
  /** The account that is read. */
  own: Graph;
  account: KeptRead;
  clusterID: string | undefined;
  /** One line for each thing that could not be read. If there is one, the page is a part. */
  problems: readonly string[];
  samples: Samples;
  /** Newest first. */
  changes: readonly Change[];
}

/** A view is used for so long where nothing has told of a change. */
const AGE_MS = 2_000;

/** Reads what pages show, with the code of the commands `status`, `tree` and `orphans`. */
export class Views implements AsyncDisposable {
  readonly flags: AccountFlags;
  readonly client: KubeClient;
  readonly cluster: WatchedCluster;
  readonly scope: Scope;
  readonly #account: KeptAccount;
  readonly #samples = new Samples();
  #clusterID: string | undefined;
  #last: { at: number; view: Promise<View> } | undefined;

  constructor(client: KubeClient, flags: AccountFlags, scope: Scope, onChange: () => void) {
    const changed = () => {
      this.#last = undefined;
      onChange();
    };
    this.flags = flags;
    this.client = client;
    this.scope = scope;
    this.cluster = new WatchedCluster(client, scope.isAll ? undefined : scope.namespace, changed);
    this.#account = new KeptAccount(flags, client, changed);
  }

  /** `isAsked`: a person wants the account to be read now. Throws what a command throws where nothing can be read. */
  current(isAsked = false): Promise<View> {
    const isFresh = this.#last && Date.now() - this.#last.at < AGE_MS;
    if (!this.#last || !isFresh || isAsked) {
      const view = this.#read(isAsked);
      this.#last = { at: Date.now(), view };
      view.catch(() => {
        this.#last = undefined;
      });
    }
    return (this.#last as { view: Promise<View> }).view;
  }

  async #read(isAsked: boolean): Promise<View> {
    const now = Date.now();
    const problems: string[] = [];
    const { scope, cluster } = this;
    const summary = summaryOf(await observe(cluster, scope, { now, problems }));
    this.#samples.add(now, summary);
    const read = await readObjects(cluster, whichOf(scope), []);
    const account = await this.#account.read(read, isAsked);
    const { found } = account;
    const own = found
      ? graphWith(found.account, read, found.sharers)
      : graphOf(new Map(), read.objects, { isRead: read.isRead });
    const graph = { ...own, nodes: [...own.nodes, ...graphBeside(own, read).nodes] };
    const config = readAccountConfig({ KUBECONFIG: this.flags.kubeconfig });
    this.#clusterID ??= await clusterIDOf(config, this.client);
    const clusterID = this.#clusterID;
    const all = [...new Set([...problems, ...account.problems, problemOfID({ graph: own, clusterID }) ?? []].flat())];
    const samples = this.#samples;
    const { changes } = cluster;
    return { now, scope, summary, read, graph, own, account, clusterID, problems: all, samples, changes };
  }

  [Symbol.asyncDispose] = (): Promise<void> => this.cluster[Symbol.asyncDispose]();
}
