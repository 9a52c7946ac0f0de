import * as z from "zod";

/**
 * Members as the service answers them. Optional ones may be missing or null, text that was never set may be `""`;
 * values are not judged beyond their JSON type, so that a new region or key type never makes an answer unreadable.
 */
export const text = z.string().nullish();
export const number = z.number().nullish();
export const flag = z.boolean().nullish();
export const texts = z.array(z.string()).nullish();
export const textMap = z.record(z.string(), z.string()).nullish();

/** Another resource, by id. */
export const ref = z.looseObject({ id: z.string(), uri: text });
export const optionalRef = ref.nullish();
export const refs = z.array(ref).nullish();

/** What every resource has. */
export const identity = { id: z.string().min(1), uri: text };

/** What nearly every resource has besides. `created_at` is RFC 3339. */
export const common = { ...identity, created_at: text, description: text, metadata: text };

/** An answer: what it is known to hold is checked, what it holds besides is passed on. */
export const answer = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject(shape);

/** An object inside an answer that may be missing or null. */
export const part = <Shape extends z.ZodRawShape>(shape: Shape) => z.looseObject(shape).nullish();
