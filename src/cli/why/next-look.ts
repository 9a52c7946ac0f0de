import { conditionOf, isPaused, isReleased, type ManagedObject } from "../../objects/object.ts";
import { annotations, type Reason } from "../../schema/contract.ts";

/** Reasons after which the operator tries again by itself: after seconds at first, later after some minutes. */
const TRIED_AGAIN: ReadonlySet<string> = new Set<Reason>(["ServiceUnavailable", "UnexpectedResponse"]);

/**
 * When the operator looks again at an object that is not Ready or not as specified. The exact time is only in the memory of
 * the operator. So this tells what makes it look at once, and the longest time until it looks by itself. Undefined: nothing
 * is waited for.
 */
export function nextLookOf(object: ManagedObject): string | undefined {
  if (isPaused(object)) return `once the annotation ${annotations.paused} is removed`;
  if (isReleased(object)) return `once the annotation ${annotations.releaseTo} is removed`;
  const failing = ["Ready", "Synced"]
    .map((type) => conditionOf(object.status, type))
    .find((condition) => condition && condition.status !== "True");
  if (!failing) return undefined;
  if (failing.reason === "RateLimited") return "by itself, when the pause that the service has asked for is over";
  if (TRIED_AGAIN.has(failing.reason)) return "by itself, after some minutes at the latest";
  if (failing.reason === "SecretNotReady") return "within a minute after the Secret is as the message says";
  return "when the object or what it refers to changes, else by itself in about an hour at the latest";
}
