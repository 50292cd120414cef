import { type Metric, type OpenMetricsContentType, type PrometheusContentType, Registry } from 'prom-client';
import type { Family, Figure, Spread } from './family.ts';

export interface Page {
  contentType: string;
  text: string;
}

/** In the form that the one who asks prefers: OpenMetrics where it is named, else Prometheus' own. */
export async function pageOf(families: readonly Family[], accept: string | undefined): Promise<Page> {
  const registry = new Registry<OpenMetricsContentType | PrometheusContentType>();
  const { OPENMETRICS_CONTENT_TYPE, PROMETHEUS_CONTENT_TYPE } = Registry;
  const open = /\bapplication\/openmetrics-text\b/.test(accept ?? '');
  registry.setContentType(open ? OPENMETRICS_CONTENT_TYPE : PROMETHEUS_CONTENT_TYPE);
  for (const family of families) registry.registerMetric(shown(family) as unknown as Metric);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

interface Value {
  metricName?: string;
  labels: Record<string, string | number>;
  sharedLabels?: Record<string, string>;
  value: number;
}

/** What prom-client takes for a metric, as its own registry of several processes makes them. */
function shown({ definition, figures, spreads }: Family) {
  const { name, help, type, labels, bounds = [] } = definition;
  const values = [
    ...figures.map((figure) => shownFigure(labels, figure)),
    ...spreads.flatMap((spread) => shownSpread(name, labels, bounds, spread)),
  ];
  return {
    name,
    help,
    type,
    // It names counters anew as it writes OpenMetrics.
    get() {
      return { name: this.name, help, type, values };
    },
  };
}

function shownFigure(names: readonly string[], { labels, value }: Figure): Value {
  return { labels: labelled(names, labels), value };
}

function shownSpread(
  name: string,
  names: readonly string[],
  bounds: readonly number[],
  { labels, counts, sum }: Spread,
): Value[] {
  const sharedLabels = labelled(names, labels);
  let count = 0;
  const buckets = counts.map((more, i): Value => {
    count += more;
    return { metricName: `${name}_bucket`, labels: { le: bounds[i] ?? '+Inf' }, sharedLabels, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, sharedLabels, value: sum },
    { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
  ];
}

function labelled(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']));
}
