import * as z from "zod";
import { flawIn } from "../bounds.ts";
import { answer, flag, optionalRef, refs, text, texts } from "../wire.ts";

/** Answers of modules. Where an answer has a ref, a request has an id: `backend_id`, `ip_policy_ids`, … */
export const backendModule = answer({ enabled: flag, backend: optionalRef });
export const ipRestrictionModule = answer({ enabled: flag, ip_policies: refs });
export const mutualTlsModule = answer({ enabled: flag, certificate_authorities: refs });
export const tlsTerminationModule = answer({ enabled: flag, terminate_at: text, min_version: text });

/** A changed number would be told to people, and sent back to the account when a module is switched off. */
const config = z
  .unknown()
  .optional()
  .refine((value) => flawIn(value)?.what !== "number", "a number is larger than 2^53 and cannot be read exactly");

const action = answer({ type: text, config });
const rules = z.array(answer({ name: text, expressions: texts, actions: z.array(action).nullish() })).nullish();

export const trafficPolicyModule = answer({ enabled: flag, inbound: rules, outbound: rules });
