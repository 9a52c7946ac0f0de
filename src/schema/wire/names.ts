import type * as z from "zod";
import { traitsOf } from "../traits.ts";

/** The name as the service writes it. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The member of a request that a field is sent as. */
export const sentAs = (field: string, schema: z.ZodType): string => traitsOf(schema).sends ?? snakeCase(field);

/** The member of an answer that has the value of a field. Empty: the value is in the member of another field. */
export const returnedAs = (field: string, schema: z.ZodType): string =>
  traitsOf(schema).returns ?? sentAs(field, schema);
