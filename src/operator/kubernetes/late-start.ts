import type { Informer } from "../../runtime/cache/informer.ts";
import type { Controller } from "../../runtime/controller/controller.ts";

type Synced = Pick<Informer, "synced">;

export type ControllerPart = Pick<Controller, "start" | "drain" | "problem">;

/**
 * A controller that works only after all these informers are synced, and collects keys until then. With an incomplete
 * store it would take existing objects for absent ones.
 */
export function startedWhenSynced(informers: readonly Synced[], controller: ControllerPart): ControllerPart {
  let isDraining = false;
  return {
    start(hardStop) {
      const start = () => {
        if (!isDraining) controller.start(hardStop);
      };
      void Promise.all(informers.map(({ synced }) => synced)).then(start, () => {});
    },
    drain() {
      isDraining = true;
      return controller.drain();
    },
    get problem() {
      return controller.problem;
    },
  };
}

/** Resolves when all of these informers are synced, with true, or when the signal aborts. */
export async function untilSynced(informers: readonly Synced[], signal: AbortSignal): Promise<boolean> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (signal.aborted) return false;
  const synced = Promise.all(informers.map((informer) => informer.synced)).catch(() => aborted);
  await Promise.race([synced, aborted]);
  return !signal.aborted;
}
