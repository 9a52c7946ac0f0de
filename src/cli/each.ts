/** Does it for all items, so many at a time. The first failure ends it. */
export async function each<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
