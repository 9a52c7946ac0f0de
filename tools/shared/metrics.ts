export type Labels = Readonly<Record<string, string | readonly string[]>>;

const series = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const label = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/**
 * The sum of a metric over all series with these labels; 0 if there is none. Each label has the given value, or one of
 * the given values. `text` is in the format that Prometheus scrapes.
 */
export function sumOf(text: string, name: string, labels: Labels = {}): number {
  let sum = 0;
  for (const line of text.split("\n")) {
    if (!line.startsWith(name)) continue;
    const [, found, given = "", value] = series.exec(line) ?? [];
    if (found === name && matches(given, labels)) sum += Number(value);
  }
  return sum;
}

function matches(text: string, labels: Labels): boolean {
  const given = new Map([...text.matchAll(label)].map(([, name, value]) => [name, value]));
  return Object.entries(labels).every(([name, wanted]) => [wanted].flat().some((value) => value === given.get(name)));
}

/** Requests to the API server; watches and lists count as reads. */
export function clusterRequests(text: string): { reads: number; writes: number } {
  const requests = (...method: string[]) => sumOf(text, "rest_client_requests_total", { method });
  return { reads: requests("GET"), writes: requests("POST", "PUT", "PATCH", "DELETE") };
}
