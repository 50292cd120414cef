import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from '../../kube/log.ts';
import type { TracingConfiguration } from '../../kube/tracing/configuration.ts';
import { Lost } from '../lost.ts';
import { TracingMetrics } from '../metrics/tracing.ts';
import { Exporter } from './exporter.ts';
import { tracedStore } from './store.ts';
import { SpanTracer } from './tracer.ts';
import type { Part, Tracing } from './tracing.ts';

/** Loaded only where requests are traced. */
export function startTracing({
  configuration,
  dataDir,
  part,
  logger,
}: {
  configuration: TracingConfiguration;
  dataDir: string;
  part: Part;
  logger: Logger;
}): Tracing {
  const { endpoint, samplingRatePerMillion } = configuration;
  const metrics = new TracingMetrics();
  const lost = new Lost(logger, metrics.lost, Date.now, 'spans');
  const exporter = new Exporter({
    endpoint,
    resource: {
      'service.name': 'apiserver',
      'service.instance.id': instanceOf(dataDir),
      'process.pid': process.pid,
      'atoll.process': part,
    },
    exported: metrics.exported,
    lost: (count, error) => lost.add(error === undefined ? 'buffered' : 'receiver', count, error),
  });
  const tracer = new SpanTracer(samplingRatePerMillion, exporter.write);
  return {
    tracer,
    over: (store) => tracedStore(store, tracer),
    along: (route) =>
      route && {
        ...route,
        transport: (request) =>
          route.transport({ ...request, headers: { ...request.headers, ...tracer.headers() } }),
      },
    families: () => metrics.families(),
    close: async () => {
      await exporter.close();
      lost.close();
    },
  };
}

/** All processes of a server are one instance, named as kube-apiserver names itself. */
function instanceOf(dataDir: string): string {
  const hash = createHash('sha256').update(`${hostname()}\0${dataDir}`).digest('hex');
  return `apiserver-${hash.slice(0, 26)}`;
}
