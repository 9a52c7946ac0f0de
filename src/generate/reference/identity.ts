import type { Kind } from "../../schema/define.ts";
import { withArticle } from "../../schema/nouns.ts";
import { code, codes } from "./markdown.ts";

const adopted = "`adopt: {id: <remote id>}` takes over one that exists";
const released = "then the finalizer is removed. `deletionPolicy: Retain` leaves";

/** Describes how the remote of an object is identified, and how it is adopted. */
export function identity(kind: Kind): string {
  switch (kind.location.type) {
    case "collection":
      return kind.naturalKey ? byKey(kind, kind.naturalKey) : byMark(kind);
    case "entry":
      return (
        `${named(kind, kind.location.idFields)} Several objects may name the same one, and others may have put it there: it is then shared. ` +
        "One that was there before any object asked for it is `Adopted` (`status.origin`)."
      );
    case "modules":
      return (
        `${named(kind, kind.location.idFields)} The operator does not create it; if it does not exist, the object says ` +
        "[RemoteMissing](../troubleshooting.md#remotemissing). Of several objects that name the same one, the first has it. The " +
        "others say [OwnershipConflict](../troubleshooting.md#ownershipconflict) until it is gone."
      );
  }
}

/** Describes what happens to the remote when its object is deleted. */
export function deletionOf({ kind, location }: Kind): string {
  switch (location.type) {
    case "collection":
      return `The remote resource is deleted, ${released} it in the account, and is the default where \`status.origin\` is \`Adopted\`.`;
    case "entry":
      return (
        `The remote resource is deleted, unless it was there before any object asked for it, the ${code(location.parent.kind)} ` +
        `lists it, or another ${code(kind)} wants it; ${released} it in the account.`
      );
    case "modules":
      return (
        "The modules that this object was the first to set are removed, and no others; those that the service cannot " +
        `remove are switched off; ${released} all as they are, and \`Delete\` also removes those that were set before.`
      );
  }
}

const named = ({ resource }: Kind, idFields: readonly string[]): string =>
  `${codes(idFields)} name the ${resource.title}; \`status.id\` has the ids, joined by a slash.`;

const byKey = ({ resource }: Kind, key: string): string =>
  `No two resources of an account have the same ${code(key)}, so ${withArticle(resource.title)} whose id was lost is ` +
  `found by it and the owner mark. ${adopted}, and \`adopt: {existing: true}\` the one with the same ${code(key)}. ` +
  "A name that is taken already says [AlreadyExists](../troubleshooting.md#alreadyexists) and prints the id.";

const byMark = ({ resource, kind }: Kind): string =>
  `Nothing but its id tells one ${resource.title} from another. The operator adds its own key to \`metadata\`, and finds a ` +
  `resource whose id was lost by that. Where \`metadata\` is text that is no JSON object, a person has to adopt it then. ` +
  `${adopted}; ${code(kind)} cannot be adopted by name. ` +
  "See [ownership](../architecture/finding.md#owner-mark).";
