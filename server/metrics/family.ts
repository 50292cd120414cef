import { Distribution } from '../../storage/measures.ts';

/** How one figure is made of those of several processes: of the first that has it, for `first`. */
export type Merge = 'sum' | 'max' | 'first';

/** What a metric is. Names, helps and labels are Kubernetes' where it has the metric. */
export interface Definition {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Of a histogram. */
  readonly bounds?: readonly number[];
  /** On a page of its own, not among all the others. */
  readonly page?: 'slis' | undefined;
  /** Default: sum. */
  readonly merge?: Merge;
}

/** The values are in the order of the definition's labels. */
export interface Figure {
  labels: readonly string[];
  value: number;
}

/** Of a histogram: how many between two bounds each, beyond the last one at last. */
export interface Spread {
  labels: readonly string[];
  counts: readonly number[];
  sum: number;
}

/** A metric as one process, or all of them together, have it now. It goes through a channel as JSON. */
export interface Family {
  definition: Definition;
  figures: Figure[];
  spreads: Spread[];
}

export function figures(
  definition: Definition,
  all: Iterable<readonly [labels: readonly string[], value: number]>,
): Family {
  return { definition, figures: Array.from(all, ([labels, value]) => ({ labels, value })), spreads: [] };
}

export function spreads(
  definition: Definition,
  all: Iterable<readonly [labels: readonly string[], distribution: Distribution]>,
): Family {
  const list = Array.from(all, ([labels, { counts, sum }]) => ({ labels, counts, sum }));
  return { definition, figures: [], spreads: list };
}

/** Those of one page: what is on none of its own is on the one of all the others. */
export function onPage(families: readonly Family[], only: Definition['page']): Family[] {
  return families.filter(({ definition }) => definition.page === only);
}

export function distributionOf({ bounds = [] }: Definition): Distribution {
  return new Distribution(bounds);
}
