/**
 * Which queues a flow may use: `handSize` of `queues`, by chance, but always the same ones for the same text. A flow that
 * fills its own leaves every other flow one that is free, nearly always.
 */
export function deal(flow: string, queues: number, handSize: number): readonly number[] {
  const random = generator(flow);
  const hand: number[] = [];
  for (let left = queues; hand.length < handSize; left--) {
    // The nth of those that were not dealt yet; the hand is in order meanwhile.
    let card = Math.floor(random() * left);
    let place = 0;
    while (place < hand.length && (hand[place] as number) <= card) {
      card++;
      place++;
    }
    hand.splice(place, 0, card);
  }
  return hand;
}

/** Of a user within a logical cluster: some of its queues, so that one of its users is not all of them. */
export function dealWithin(hand: readonly number[], flow: string): readonly number[] {
  const own = deal(flow, hand.length, Math.max(1, Math.ceil(hand.length / 3)));
  return own.map((place) => hand[place] as number);
}

/** FNV-1a for a seed, then Mulberry32: 0 <= x < 1. */
function generator(text: string): () => number {
  let seed = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) seed = Math.imul(seed ^ text.charCodeAt(i), 0x01000193);
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
