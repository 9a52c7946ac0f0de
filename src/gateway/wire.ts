import * as z from "zod";

/**
 * Members of answers. Optional ones may be missing or null; a text that was never set may be `""`. Only the JSON type
 * of a value is checked, so that a new region or key type does not make an answer unreadable.
 */
export const text = z.string().nullish();
export const number = z.number().nullish();
export const flag = z.boolean().nullish();
export const texts = z.array(z.string()).nullish();
export const textMap = z.record(z.string(), z.string()).nullish();

/** A reference to another resource. */
export const ref = z.object({ id: z.string(), uri: text });
export const optionalRef = ref.nullish();
export const refs = z.array(ref).nullish();

/** Members of every resource. The bound of an id: a status cannot leave it out. */
export const identity = { id: z.string().min(1).max(256), uri: text };

/** Members of nearly every resource. `created_at` is RFC 3339. */
export const common = { ...identity, created_at: text, description: text, metadata: text };

/** An answer. Known members are checked. Others are dropped: nobody reads them, and they may be large. */
export const answer = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape);

/** An object in an answer, which may be missing or null. */
export const part = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape).nullish();
