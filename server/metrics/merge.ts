import type { Family, Figure, Merge, Spread } from './family.ts';

/** What all of them say together, each metric once, in the order in which the first ones have them. */
export function merged(parts: Iterable<readonly Family[]>): Family[] {
  const all = new Map<
    string,
    { family: Family; figures: Map<string, Figure>; spreads: Map<string, Spread> }
  >();
  for (const part of parts) {
    for (const { definition, figures, spreads } of part) {
      let one = all.get(definition.name);
      if (one === undefined) {
        one = { family: { definition, figures: [], spreads: [] }, figures: new Map(), spreads: new Map() };
        all.set(definition.name, one);
      }
      for (const figure of figures) addFigure(one.figures, figure, definition.merge ?? 'sum');
      for (const spread of spreads) addSpread(one.spreads, spread);
    }
  }
  return [...all.values()].map(({ family, figures, spreads }) => ({
    definition: family.definition,
    figures: [...figures.values()],
    spreads: [...spreads.values()],
  }));
}

/** What of it still counts when its process has ended: what only ever grows. */
export function remains(families: readonly Family[]): Family[] {
  return families.filter(({ definition: { type } }) => type !== 'gauge');
}

function addFigure(into: Map<string, Figure>, { labels, value }: Figure, merge: Merge): void {
  const key = labels.join('\0');
  const known = into.get(key);
  if (known === undefined) into.set(key, { labels, value });
  else if (merge === 'sum') known.value += value;
  else if (merge === 'max') known.value = Math.max(known.value, value);
}

function addSpread(into: Map<string, Spread>, { labels, counts, sum }: Spread): void {
  const key = labels.join('\0');
  const known = into.get(key);
  if (known === undefined) {
    into.set(key, { labels, counts, sum });
    return;
  }
  const together = known.counts.map((count, i) => count + (counts[i] ?? 0));
  into.set(key, { labels, counts: together, sum: known.sum + sum });
}
