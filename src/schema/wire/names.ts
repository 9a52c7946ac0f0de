import type * as z from "zod";
import { traitsOf } from "../traits.ts";

/** The service's spelling of a name. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The member of a request that a field is sent as. */
export const sentAs = (field: string, schema: z.ZodType): string => traitsOf(schema).sends ?? snakeCase(field);

/** The member of an answer that shows a field; empty where another field shows it. */
export const returnedAs = (field: string, schema: z.ZodType): string =>
  traitsOf(schema).returns ?? sentAs(field, schema);
