import { Session } from "node:inspector/promises";

/** The files below `src` of which this worker calls a function while the work goes on, such as `reconcile/find/find.ts`. */
export async function filesPassedBy(work: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    await work();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const called = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
    return called.flatMap(({ url }) => /\/src\/(.*\.ts)(?:\?|$)/.exec(url)?.[1] ?? []).sort();
  } finally {
    session.disconnect();
  }
}
