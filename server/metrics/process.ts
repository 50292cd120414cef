import { collectDefaultMetrics, type MetricValue, Registry } from 'prom-client';
import type { Definition, Family, Figure, Merge, Spread } from './family.ts';
import { Lag, lagNames } from './lag.ts';

interface Given {
  values: (MetricValue<string> & { metricName?: string })[];
}

/** What cannot be added up: who is slowest counts, or the process that was started first. */
const merges: readonly [RegExp, Merge][] = [
  [/^nodejs_eventloop_lag_/, 'max'],
  [/^(process_start_time_seconds|process_max_fds|nodejs_version_info)$/, 'first'],
];

/** What says the same as nodejs_active_resources, or its sum, some of it under a counter's name. */
const superfluous = ['handles', 'handles_total', 'requests', 'requests_total', 'resources_total'];

/** It looks at the event loop so often, in milliseconds, to tell what Lag does for less: never, as good as. */
const never = 1_000_000_000;

/** What prom-client tells of any process: memory, processor time, files, event loop, garbage. */
export class ProcessMetrics {
  readonly #registry = new Registry();
  readonly #lag = new Lag();

  constructor() {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: never });
    for (const name of superfluous) this.#registry.removeSingleMetric(`nodejs_active_${name}`);
    for (const name of lagNames) this.#registry.removeSingleMetric(name);
    this.#lag.start();
  }

  async families(): Promise<Family[]> {
    const all = this.#registry.getMetricsAsArray() as unknown as Held[];
    const told = await Promise.all(
      all.map(async (metric) => familyOf(metric, (await metric.get()) as Given)),
    );
    return [...told, ...this.#lag.families()];
  }
}

/** Of a metric itself, which knows its labels also while it has no values. */
interface Held {
  name: string;
  help: string;
  type: Definition['type'];
  labelNames: readonly string[];
  upperBounds?: readonly number[];
  get(): Promise<unknown>;
}

function familyOf({ name, help, type, labelNames, upperBounds }: Held, { values }: Given): Family {
  const merge = merges.find(([pattern]) => pattern.test(name))?.[1];
  const labels = [...labelNames];
  const definition: Definition = {
    name,
    help,
    type,
    labels,
    ...(upperBounds && { bounds: upperBounds }),
    ...(merge && { merge }),
  };
  if (type === 'histogram') return { definition, figures: [], spreads: spreadsOf(name, labels, values) };
  const figures = values.map((value): Figure => ({ labels: named(labels, value), value: value.value }));
  return { definition, figures, spreads: [] };
}

/** Buckets come with all that is below them. */
function spreadsOf(name: string, labels: readonly string[], values: Given['values']): Spread[] {
  const found = new Map<string, { labels: string[]; counts: number[]; sum: number }>();
  for (const value of values) {
    const words = named(labels, value);
    const key = words.join('\0');
    const spread = found.get(key) ?? { labels: words, counts: [], sum: 0 };
    found.set(key, spread);
    if (value.metricName === `${name}_sum`) spread.sum = value.value;
    if (value.metricName !== `${name}_bucket`) continue;
    const below = spread.counts.reduce((sum, count) => sum + count, 0);
    spread.counts.push(value.value - below);
  }
  return [...found.values()];
}

function named(names: readonly string[], { labels }: MetricValue<string>): string[] {
  return names.map((name) => String(labels[name] ?? ''));
}
