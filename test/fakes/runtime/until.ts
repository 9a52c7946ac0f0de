/** Resolves as soon as the condition is true. Rejects after five seconds, with what it waited for. */
export async function until(condition: () => boolean, what = condition.toString()): Promise<void> {
  const end = performance.now() + 5_000;
  for (;;) {
    // at least one turn of the event loop, so that what was just started can have an effect
    await new Promise((resolve) => setImmediate(resolve));
    if (condition()) return;
    if (performance.now() > end) throw new Error(`Waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
