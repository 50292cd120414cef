/**
 * Of those who could, the one who is to do what bears this name: each gives the same answer without asking the others, each
 * has about as many names, and of those only what one had moves when it goes, or what one gets when it comes. Undefined: nobody is there.
 * Highest random weight: https://en.wikipedia.org/wiki/Rendezvous_hashing
 */
export function preferred(name: string, members: Iterable<string>): string | undefined {
  let best: string | undefined;
  let most = -1;
  for (const member of members) {
    const weight = weigh(member, name);
    if (weight < most || (weight === most && best !== undefined && best < member)) continue;
    [best, most] = [member, weight];
  }
  return best;
}

/**
 * The same for a few names that are to be shared out evenly: nobody has more than its part of them, rounded up. Who comes or
 * goes moves a little more than that part.
 */
export function evenly(names: readonly string[], members: Iterable<string>): ReadonlyMap<string, string> {
  const free = new Map([...members].map((member) => [member, 0]));
  const most = Math.ceil(names.length / free.size);
  for (const member of free.keys()) free.set(member, most);
  const found = new Map<string, string>();
  for (const name of names) {
    const member = preferred(name, free.keys());
    if (member === undefined) break;
    found.set(name, member);
    const left = (free.get(member) ?? 0) - 1;
    if (left > 0) free.set(member, left);
    else free.delete(member);
  }
  return found;
}

/** 32 bits of a text; of texts that differ a little they differ as much as of any others. */
export function hashOf(text: string): number {
  return weigh(text, '');
}

/** 32 bits of both: FNV-1a, and the last steps of MurmurHash3, without which names that differ at their end weigh alike. */
function weigh(member: string, name: string): number {
  let hash = 0x811c9dc5;
  for (const text of [member, '\n', name])
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
