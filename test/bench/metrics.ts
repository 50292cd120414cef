import { observed } from '../../apiserver/observe.ts';
import { parseRequest } from '../../apiserver/request.ts';
import { RequestMetrics } from '../../server/metrics/requests.ts';
import { percentile } from './measure.ts';

const rounds = 20;
const asked = 100_000;
const urls = [
  '/api/v1/namespaces/default/configmaps/a',
  '/api/v1/namespaces/default/pods?limit=500',
  '/apis/apps/v1/namespaces/default/deployments/a',
];

/** Microseconds of the processor that it takes to count a request, beside all that is done for it. */
export function measureCounting(): number {
  const metrics = new RequestMetrics();
  const requests = urls.map((url) => ({
    request: { method: 'GET', url, headers: {} },
    info: parseRequest('GET', url, { logicalClusters: true }),
  }));
  const response = { status: 200, headers: {}, body: new Uint8Array(500) };
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    for (let i = 0; i < asked; i++) {
      const { request, info } = requests[i % requests.length] ?? {
        request: { method: '', url: '', headers: {} },
        info: undefined,
      };
      const began = performance.now();
      metrics.atWork('read', 1);
      observed(metrics, request, info, response, began);
      metrics.atWork('read', 0);
    }
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / asked);
  }
  return percentile(times, 50);
}
