import type { ApiRequest, ApiResponse } from '../kube/http.ts';
import { EventStream } from './handlers/watch/stream.ts';
import type { Observer } from './observer.ts';
import { isLongRunning, type RequestInfo } from './request.ts';

/** Tells what a request came to: now, or where the answer lasts when that has ended. Answers what is to be sent. */
export function observed(
  observer: Observer,
  request: ApiRequest,
  info: RequestInfo | undefined,
  response: ApiResponse,
  began: number,
): ApiResponse {
  const { status: code, headers, body } = response;
  const stream = response.tunnel ?? response.events ?? body;
  const lasts = info !== undefined && !(stream instanceof Uint8Array) && isLongRunning(info);
  const bytes = body instanceof Uint8Array ? body.length : lengthIn(headers['content-length']);
  const tell = () =>
    observer.answered(request, info, { code, bytes, seconds: (performance.now() - began) / 1000 });
  if (!lasts) {
    tell();
    return response;
  }
  const ended = observer.lasts(request, info);
  const over = () => {
    ended();
    tell();
  };
  whenOver(response, over);
  return response;
}

/** Calls `over` when what is answered has ended: at once, but for what lasts. */
export function whenOver(response: ApiResponse, over: () => void): void {
  const { body, events, tunnel } = response;
  const stream = events ?? body;
  if (tunnel !== undefined && !tunnel.closed) tunnel.once('close', over);
  else if (tunnel !== undefined) over();
  else if (stream instanceof EventStream) stream.whenOver(over);
  else if (stream instanceof Uint8Array) over();
  else if (!(body instanceof Uint8Array)) response.body = until(body, over);
}

function lengthIn(header: string | string[] | undefined): number | undefined {
  return header === undefined ? undefined : Number(header);
}

async function* until(body: AsyncIterable<Uint8Array>, over: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    over();
  }
}

/** `over` is called when the answer has ended, or where there is none. */
export function lasting(work: Promise<ApiResponse>, over: () => void): Promise<ApiResponse> {
  return work.then(
    (answer) => {
      whenOver(answer, over);
      return answer;
    },
    (error) => {
      over();
      throw error;
    },
  );
}
