import { rootCluster } from '../../cluster/names.ts';
import type { ApiResponse } from '../../kube/http.ts';
import type { Exchange } from '../core.ts';
import { methodNotAllowed } from '../encode/respond.ts';

export const metricsPath = '/metrics';
/** https://kubernetes.io/docs/reference/instrumentation/slis/ */
export const slisPath = '/metrics/slis';

/**
 * What the server counts, for whoever may get that path in root. `undefined`: another path. In another logical cluster
 * there is none: they count what all tenants do, and its administrator may get every path in it.
 */
export function handleMetrics({ core, info, request }: Exchange): Promise<ApiResponse> | undefined {
  const { metrics } = core;
  const isSlis = info.path === slisPath;
  if (info.path !== metricsPath && !isSlis) return undefined;
  if (info.cluster !== rootCluster || metrics === undefined) return undefined;
  // It would reset them, for whoever else reads them.
  if (info.method === 'DELETE') throw methodNotAllowed();
  return metrics(request.headers['accept'], isSlis ? 'slis' : undefined).then(({ contentType, text }) => ({
    status: 200,
    headers: { 'content-type': contentType },
    body: Buffer.from(text),
  }));
}
