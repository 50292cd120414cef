import { describe, expect, it } from 'vitest';
import { Client } from '../../../client/client.ts';
import type { Transport } from '../../../kube/http.ts';
import { servedBy } from '../../../syncer/served.ts';

const answering = (answers: Record<string, object>): Client => {
  const transport: Transport = async ({ url }) => {
    const body = answers[url];
    const headers = { 'content-type': 'application/json' };
    return { status: body ? 200 : 404, headers, body: Buffer.from(JSON.stringify(body ?? {})) };
  };
  return new Client(transport);
};
const ask = (client: Client) => servedBy(client, { signal: new AbortController().signal, timeoutMs: 60_000 });

describe('what a cluster serves', () => {
  it('is told in one answer: namespaced custom resources, in each version', async () => {
    const resource = (name: string, scope: string) => ({ resource: name, scope });
    const items = [
      {
        metadata: { name: 'apps' },
        versions: [{ version: 'v1', resources: [resource('deployments', 'Namespaced')] }],
      },
      {
        metadata: { name: 'example.com' },
        versions: [
          { version: 'v2', resources: [resource('sets', 'Namespaced'), resource('zones', 'Cluster')] },
          { version: 'v1', resources: [resource('sets', 'Namespaced')] },
        ],
      },
    ];
    expect(await ask(answering({ '/apis': { items } }))).toEqual([
      'sets.example.com/v1',
      'sets.example.com/v2',
    ]);
  });

  it('or in one for each group, by an older one', async () => {
    const client = answering({
      '/apis': {
        groups: [
          { name: 'apps', versions: [{ version: 'v1' }] },
          { name: 'example.com', versions: [{ version: 'v1' }] },
        ],
      },
      '/apis/example.com/v1': {
        resources: [
          { name: 'sets', namespaced: true },
          { name: 'sets/status', namespaced: true },
          { name: 'zones', namespaced: false },
        ],
      },
    });
    expect(await ask(client)).toEqual(['sets.example.com/v1']);
  });

  it('says where there is more than is told', async () => {
    const answer = (count: number) => {
      const resources = Array.from({ length: count }, (_, i) => ({ resource: `r${i}`, scope: 'Namespaced' }));
      const items = [{ metadata: { name: 'example.com' }, versions: [{ version: 'v1', resources }] }];
      return ask(answering({ '/apis': { items } }));
    };
    const all = await answer(500);
    expect([all?.length, all?.at(-1)]).toEqual([500, 'r99.example.com/v1']);
    const cut = await answer(501);
    expect([cut?.length, cut?.at(-1)]).toEqual([501, '*']);
  });

  it('is not known where it does not answer', async () => {
    expect(await ask(answering({}))).toBeUndefined();
    const groups = [{ name: 'example.com', versions: [{ version: 'v1' }] }];
    expect(await ask(answering({ '/apis': { groups } }))).toBeUndefined();
  });
});
