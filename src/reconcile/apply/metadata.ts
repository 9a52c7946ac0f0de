import type { Remote } from "../../gateway/resource.ts";
import type { Kind } from "../../schema/define.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import type { OthersEntriesByMember } from "../../schema/wire/shared.ts";
import { type Plan, plan } from "../desired/plan.ts";

/**
 * The update that gives a remote other metadata and leaves all else as it is. Its body has more than the metadata: the
 * service empties a map or list that an update leaves out. `others`: see `PlanInput`.
 */
export const planOfMetadata = (
  kind: Kind,
  remote: Remote,
  metadata: string,
  others: OthersEntriesByMember = {},
): Plan =>
  plan(kind, {
    wanted: { metadata },
    seen: fromAnswer(kind.spec, remote),
    applied: [],
    renewed: ["metadata"],
    others,
  });
