import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { Connection } from './connection.ts';
import { number, type WatchCreate, type WatchRequest, type WatchResponse, watch } from './wire.ts';

/** How a watch stream ended. */
export type StreamEnd =
  | { readonly why: 'compacted'; readonly revision: number }
  | { readonly why: 'lost'; readonly error: Error }
  | { readonly why: 'stopped' };

export interface WatchStream {
  /** Asks for an answer without events once everything up to its revision was sent. */
  progress(): void;
  stop(): void;
  /** Never rejects. No response is handed over after it resolved. */
  readonly ended: Promise<StreamEnd>;
}

/**
 * One watch on one stream of its own: etcd sends progress only when all watches of a stream are up to date. Until it
 * announced the watch it holds the watch's events back, but not progress, which then promises more than was sent:
 * what comes before the announcement is not handed over.
 */
export async function openStream(
  connection: Connection,
  create: WatchCreate,
  onResponse: (response: WatchResponse) => void,
): Promise<WatchStream> {
  const stream: ClientDuplexStream<WatchRequest, WatchResponse> = await connection.stream(watch);
  let over = false;
  let announced = false;
  let finish: (end: StreamEnd) => void = () => {};
  const ended = new Promise<StreamEnd>((resolve) => {
    finish = (end) => {
      if (over) return;
      over = true;
      resolve(end);
      stream.cancel();
    };
  });
  stream.on('data', (response: WatchResponse) => {
    if (over) return;
    announced ||= response.created;
    if (!response.canceled) return announced ? onResponse(response) : undefined;
    const revision = number(response.compactRevision);
    if (revision > 0) return finish({ why: 'compacted', revision });
    // Of a stream etcd judges the token here, not by a status.
    if (/token|auth store|permission/.test(response.cancelReason)) connection.forgetLogin();
    finish({ why: 'lost', error: new Error(response.cancelReason || 'etcd canceled the watch') });
  });
  stream.on('error', (error) => finish({ why: 'lost', error }));
  stream.on('end', () => finish({ why: 'lost', error: new Error('etcd closed the watch') }));
  stream.write({ create });
  return {
    progress: () => {
      if (!over) stream.write({ progress: {} });
    },
    stop: () => finish({ why: 'stopped' }),
    ended,
  };
}
