import { describe, expect, test } from 'vitest';
import { Client } from '../../../client/client.ts';
import { TransportError } from '../../../client/errors.ts';
import { reflectedAs } from '../../../cluster/reflected.ts';
import type { PhysicalCluster } from '../../../cluster/types.ts';
import type { ApiRequest, Transport } from '../../../kube/http.ts';
import { connectPod } from '../../../syncer/connect.ts';
import { namespaceFor } from '../../../syncer/ownership.ts';

const pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'default', uid: 'u', annotations: reflectedAs({}, 'u', ['west']) },
};
const refused = new TransportError('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1');
const away: Transport = () => Promise.reject(refused);

const placement = { spec: { namespaceUid: 'n', physicalNamespace: 'x' } };
const upstream: Transport = async () => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify({ items: [placement] })),
});
const west = {
  apiVersion: 'atoll.dev/v1alpha1',
  kind: 'PhysicalCluster',
  metadata: { name: 'west' },
  status: { lastAnswerTime: '2026-01-02T03:04:05Z' },
};

/** West answers what `answer` does, once the namespace of its own is asked for. */
function connect(transport: Transport) {
  const engaged = new Map([['west', { transport, uid: 'u' }]]);
  const client = new Client(upstream);
  const clusterOf = () => west as PhysicalCluster;
  return connectPod({ client, engaged, clusterOf, signal: new AbortController().signal }, 'root', pod);
}

describe('a pod of a physical cluster', () => {
  const unreached = {
    code: 503,
    reason: 'ServiceUnavailable',
    message: `cluster west has not answered since 2026-01-02T03:04:05Z: ${refused.message}`,
    details: { retryAfterSeconds: 1 },
  };

  test('that does not answer is unavailable, and it is said which one that is', async () => {
    await expect(connect(away)).rejects.toMatchObject(unreached);
  });

  test('that falls silent after it was found is unavailable, too', async () => {
    let asked: ApiRequest | undefined;
    const connection = await connect(async (request) => {
      if (asked !== undefined) throw refused;
      asked = request;
      const of = { syncer: 'u', cluster: 'root', namespace: 'default', uid: 'n' };
      const body = Buffer.from(JSON.stringify(namespaceFor('x', of, {})));
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    });
    expect(connection?.path).toMatch(/\/pods\/p$/);
    await expect(connection?.transport({ method: 'DELETE', url: '/', headers: {} })).rejects.toMatchObject(
      unreached,
    );
  });
});

describe('a Pod of its own that moves', () => {
  const own = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'default', uid: 'u' } };
  const of = (syncer: string) => ({ syncer, cluster: 'root', namespace: 'default', uid: 'n' });
  const there =
    (uid: string): Transport =>
    async ({ method }) => ({
      status: 200,
      headers: { 'content-type': 'application/json', 'x-cluster': uid },
      body: Buffer.from(method === 'GET' ? JSON.stringify(namespaceFor('x', of(uid), {})) : '{}'),
    });

  test.each([
    ['Joining', 'Active', 'west'],
    ['Active', 'Joining', 'east'],
    ['Withdrawing', 'Active', 'west'],
    ['Leaving', 'Active', 'west'],
    ['Withdrawing', 'Joining', 'east'],
    ['Joining', 'Leaving', 'east'],
  ])('is reached, %s on east and %s on west, where its status is of: %s', async (east, to, expected) => {
    const shares = { east: { phase: east }, west: { phase: to } };
    const both = { spec: { ...placement.spec, shares } };
    const client = new Client(async ({ url }) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(url.includes('limit=1') ? { items: [both] } : both)),
    }));
    const engaged = new Map(['east', 'west'].map((uid) => [uid, { transport: there(uid), uid }]));
    const ways = { client, engaged, clusterOf: () => undefined, signal: new AbortController().signal };
    const connection = await connectPod(ways, 'root', own);
    const answer = await connection?.transport({ method: 'POST', url: '/', headers: {} });
    expect(answer?.headers['x-cluster']).toBe(expected);
  });
});
