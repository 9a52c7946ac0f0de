import type { ManagedObject } from "../../../objects/object.ts";
import { AccountReader } from "../../account/reader.ts";
import { messageForUser } from "../../cluster/failure.ts";
import { compare, copyOf } from "../../diff/diff.ts";
import type { ComparedObject } from "../../diff/render.ts";
import { membersOf } from "../../graph/accounts.ts";
import type { Node } from "../../graph/graph.ts";
import { clusterSource } from "../../plan/sources.ts";
import type { View, Views } from "./view.ts";

export interface Comparisons {
  compared: ComparedObject[];
  /** What was not read, or is missing. */
  problems: string[];
}

/** Objects beside their remotes, as `diff` compares them. What the lists of the account showed is not read again. */
export async function comparisonsOf(views: Views, view: View, nodes: readonly Node[]): Promise<Comparisons> {
  const problems: string[] = [];
  const compared: ComparedObject[] = [];
  const { account, read, scope } = view;
  if (!account.found) return { compared, problems: [...account.problems] };
  const { credentials, sharers } = account.found;
  const { remotes } = account.found.account;
  const { objects, defaults } = read;
  const isInAccount = membersOf({ sharers, objects, remotes, defaults });
  const source = clusterSource(views.client, { manifests: [], namespace: scope.namespace, problems });
  const copy = copyOf([...objects.values()].flat(), isInAccount, source);
  await using reader = new AccountReader(credentials);
  for (const { kind, object } of nodes) {
    const one = object && isInAccount(object) && (await compareOne(kind, object));
    if (one) compared.push(one);
  }
  return { compared, problems: [...new Set(problems)] };

  async function compareOne(kind: Node["kind"], object: ManagedObject): Promise<ComparedObject | undefined> {
    try {
      return await compare(kind, object, { reader, copy, problems, missing: problems, remotes });
    } catch (error) {
      const problem = messageForUser(error);
      if (problem === undefined) throw error;
      problems.push(problem);
      return undefined;
    }
  }
}
