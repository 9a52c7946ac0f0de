/** Resolves as soon as the condition holds; rejects, with what it was waiting for, after five seconds. */
export async function until(condition: () => boolean, what = condition.toString()): Promise<void> {
  const end = performance.now() + 5_000;
  for (;;) {
    // once around the event loop in any case: what was just begun gets its chance to show
    await new Promise((resolve) => setImmediate(resolve));
    if (condition()) return;
    if (performance.now() > end) throw new Error(`Waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
