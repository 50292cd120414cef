import type { PodConnector } from '../apiserver/plugins.ts';
import type { ApiRequest, ApiResponse } from '../kube/http.ts';
import { notFound, StatusError } from '../kube/status.ts';

/** What a pretended container says: one line, so that `kubectl logs` has something to show. */
export function podLogs(cluster: string): PodConnector {
  return (_logicalCluster, pod) => {
    const { name = '', namespace = '' } = pod.metadata;
    const started = (pod.status as { startTime?: string } | undefined)?.startTime ?? '';
    const transport = async (request: ApiRequest): Promise<ApiResponse> => {
      const url = new URL(request.url, 'http://pod');
      const subresource = /\/pods\/[^/]+\/(exec|attach|portforward|proxy)(\/|$)/.exec(url.pathname)?.[1];
      if (subresource) return respondNothingRuns(cluster, subresource);
      // The pod itself is nowhere but in this API: whoever deletes it does so here.
      if (!url.pathname.endsWith('/log')) return respond(notFound({ group: '', resource: 'pods' }, name));
      const stamps = url.searchParams.get('timestamps') === 'true';
      const line = `hello from a pod of ${cluster}: ${name}\n`;
      const body = Buffer.from(stamps ? `${started} ${line}` : line);
      return { status: 200, headers: { 'content-type': 'text/plain' }, body };
    };
    return { transport, path: `/api/v1/namespaces/${namespace}/pods/${name}` };
  };
}

function respondNothingRuns(cluster: string, subresource: string): ApiResponse {
  const message = `nothing really runs in the simulated cluster ${cluster}: ${subresource} needs a real one`;
  return respond(new StatusError(501, 'NotImplemented', message));
}

function respond(error: StatusError): ApiResponse {
  const body = Buffer.from(JSON.stringify(error.toStatus()));
  return { status: error.code, headers: { 'content-type': 'application/json' }, body };
}
