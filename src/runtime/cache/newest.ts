/** The newest of these resourceVersions; 0 without any. */
export function newest(revisions: Iterable<bigint>): bigint {
  let found = 0n;
  for (const revision of revisions) if (revision > found) found = revision;
  return found;
}
