import * as z from "zod";
import { type Intent, intentOf, parseIntent, type SignedIntent } from "../../objects/intent.ts";
import type { Kind } from "../../schema/define.ts";
import { traitsOf, unwrap } from "../../schema/traits.ts";
import { membersOf } from "../../schema/wire/compare.ts";
import type { ReconcileContext } from "../context.ts";

/**
 * Removes values of Secrets from the create intent. Earlier versions of the operator recorded there what they had sent,
 * and left out only members that are secret by name. So everybody who may read objects could read certificates and
 * other values from Secrets.
 */
export async function cleanIntent(context: ReconcileContext): Promise<void> {
  const { kind, object, cluster } = context;
  const [intent, written] = [intentOf(object), parseIntent(object)];
  const { sent = {}, fields } = written ?? {};
  const open = Object.entries(sent).filter(([member]) => !isFromSecret(kind, member, fields));
  if (!intent || open.length === Object.keys(sent).length) return;
  // An intent without a signature is removed whole.
  const cleaned: Intent = intent.signed ? { ...intent, sent: Object.fromEntries(open) } : intent;
  context.object = await cluster.annotate(kind, object, { intent: cleaned });
}

/** Whether a member has the value of a Secret, given that these fields of the spec were sent. */
function isFromSecret({ spec }: Kind, member: string, sent: SignedIntent["fields"] = []): boolean {
  const { fields = [] } = membersOf(spec).get(member) ?? {};
  return fields.some((field) => {
    const schema = spec.shape[field] as z.ZodType;
    if (traitsOf(schema).secretMembers) return sent.includes(field);
    const inner = unwrap(schema);
    const parts = inner instanceof z.ZodObject && traitsOf(schema).encode ? Object.entries(inner.shape) : [];
    return parts.some(([part, of]) => traitsOf(of as z.ZodType).secret && sent.includes(`${field}.${part}`));
  });
}
