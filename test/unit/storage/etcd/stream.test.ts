import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../../storage/etcd/connection.ts';
import { readHistory } from '../../../../storage/etcd/history.ts';
import { Keys } from '../../../../storage/etcd/keys.ts';
import { openStream } from '../../../../storage/etcd/stream.ts';
import type { WatchEvent, WatchResponse } from '../../../../storage/etcd/wire.ts';
import { prefixRange } from '../../../../storage/store.ts';

const keys = new Keys('/p');
const ALL = prefixRange('/');

function response(revision: number, rest: Partial<WatchResponse> = {}): WatchResponse {
  const none = { created: false, canceled: false, compactRevision: 0, cancelReason: '', events: [] };
  return { header: { revision }, ...none, ...rest };
}

function created(key: string, modRevision: number): WatchEvent {
  const kv = {
    key: keys.data(key),
    value: Buffer.from(''),
    modRevision,
    createRevision: modRevision,
    version: 1,
  };
  return { type: 0, kv, prevKv: null };
}

/** A connection whose every stream gets these answers. */
function answering(...responses: WatchResponse[]): Connection {
  const stream = async () => {
    const emitter = Object.assign(new EventEmitter(), { write: () => true, cancel: () => {} });
    setImmediate(() => {
      for (const one of responses) emitter.emit('data', one);
    });
    return emitter;
  };
  return { stream, patienceMs: 1000, signal: new AbortController().signal } as unknown as Connection;
}

// The order that etcd's sendLoop may choose: the channel of events before the one of announcements.
const early = [
  response(5),
  response(5, { created: true }),
  response(5, { events: [created('/a', 3), created('/b', 5)] }),
  response(5),
];

describe('a watch of etcd', () => {
  it('takes no progress for true that comes before the watch was announced', async () => {
    const told: WatchResponse[] = [];
    const create = { ...keys.range(ALL), startRevision: 2 };
    const stream = await openStream(answering(...early), create, (one) => {
      told.push(one);
      if (told.length === 3) stream.stop();
    });
    await stream.ended;
    expect(told).toEqual(early.slice(1));
  });

  it('reads history to its end when progress comes before it', async () => {
    const read: number[] = [];
    await readHistory(answering(...early), keys, {
      range: ALL,
      after: 1,
      until: 5,
      deliver: (events) => read.push(...events.map(({ entry }) => entry.revision)),
      signal: new AbortController().signal,
    });
    expect(read).toEqual([3, 5]);
  });
});
