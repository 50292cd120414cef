/** What is found under a name; nothing is kept of one under which there is none. */
export function enter(index: Map<string, Set<string>>, at: string, key: string): void {
  const keys = index.get(at);
  if (keys) keys.add(key);
  else index.set(at, new Set([key]));
}

export function leave(index: Map<string, Set<string>>, at: string, key: string): void {
  const keys = index.get(at);
  keys?.delete(key);
  if (keys?.size === 0) index.delete(at);
}

export function tally(counts: Map<string, number>, of: string, more: number): void {
  const now = (counts.get(of) ?? 0) + more;
  if (now > 0) counts.set(of, now);
  else counts.delete(of);
}
