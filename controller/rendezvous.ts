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

/** 32 bits of both: FNV-1a, and the last steps of MurmurHash3, without which names that differ at their end weigh alike. */
function weigh(member: string, name: string): number {
  let hash = 0x811c9dc5;
  for (const text of [member, '\n', name])
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
