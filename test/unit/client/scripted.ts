import type { ApiRequest, ApiResponse, Transport } from '../../../kube/http.ts';

type Answer = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** Answers requests in the order of the script; past its end requests wait until they are aborted. */
export function scripted(...script: Answer[]): { transport: Transport; urls: string[] } {
  const urls: string[] = [];
  const transport: Transport = async (request) => {
    urls.push(request.url);
    const answer = script.shift();
    return answer ? await answer(request) : await untilAborted(request);
  };
  return { transport, urls };
}

export function json(status: number, body: unknown): Answer {
  return () => ({ status, headers: {}, body: Buffer.from(JSON.stringify(body)) });
}

export function failure(code: number, reason: string): Answer {
  return json(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message: reason, code });
}

export function list(resourceVersion: string, ...items: unknown[]): Answer {
  return json(200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion }, items });
}

/** Sends the events, then ends; with `open` it stays open until it is aborted. */
export function watch(events: unknown[], open = false): Answer {
  return watchBytes([Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''))], open);
}

export function watchBytes(chunks: Uint8Array[], open = false): Answer {
  return (request) => ({ status: 200, headers: {}, body: stream(chunks, open ? request : undefined) });
}

async function* stream(chunks: Uint8Array[], request?: ApiRequest): AsyncIterable<Uint8Array> {
  yield* chunks;
  if (request) await untilAborted(request);
}

function untilAborted(request: ApiRequest): Promise<never> {
  return new Promise((_resolve, reject) => {
    request.signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
}

export function configMap(name: string, resourceVersion: string, extra: object = {}): object {
  const metadata = { name, namespace: 'x', uid: `uid-${name}`, resourceVersion, ...extra };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

export function event(type: string, object: object): object {
  return { type, object };
}

export function bookmark(resourceVersion: string): object {
  return { type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion } } };
}
