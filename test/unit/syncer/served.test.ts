import { describe, expect, it } from 'vitest';
import { Client } from '../../../client/client.ts';
import type { Transport } from '../../../kube/http.ts';
import { Served } from '../../../syncer/served.ts';

const answering = (answers: Record<string, object>): Client => {
  const transport: Transport = async ({ url }) => {
    const body = answers[url];
    const headers = { 'content-type': 'application/json' };
    return { status: body ? 200 : 404, headers, body: Buffer.from(JSON.stringify(body ?? {})) };
  };
  return new Client(transport);
};
const asking = { signal: new AbortController().signal, timeoutMs: 60_000 };
const ask = (client: Client) => new Served(client).ask(asking);

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

  it('is told again as long as the cluster says that it is the same', async () => {
    const asked: unknown[] = [];
    let etag = '"a"';
    const list = (...names: string[]) => {
      const resources = names.map((resource) => ({ resource, scope: 'Namespaced' }));
      return { items: [{ metadata: { name: 'example.com' }, versions: [{ version: 'v1', resources }] }] };
    };
    const transport: Transport = async ({ headers }) => {
      asked.push(headers['if-none-match']);
      if (headers['if-none-match'] === etag) return { status: 304, headers: { etag }, body: Buffer.alloc(0) };
      const body = Buffer.from(JSON.stringify(etag === '"a"' ? list('sets') : list('sets', 'more')));
      return { status: 200, headers: { etag }, body };
    };
    const served = new Served(new Client(transport));
    const told = async () => (await served.ask(asking))?.join();
    expect([await told(), await told()]).toEqual(['sets.example.com/v1', 'sets.example.com/v1']);
    etag = '"b"';
    expect(await told()).toBe('more.example.com/v1,sets.example.com/v1');
    expect(await told()).toBe('more.example.com/v1,sets.example.com/v1');
    expect(asked).toEqual([undefined, '"a"', '"a"', '"b"']);
  });

  it('is not known where it does not answer', async () => {
    expect(await ask(answering({}))).toBeUndefined();
    const groups = [{ name: 'example.com', versions: [{ version: 'v1' }] }];
    expect(await ask(answering({ '/apis': { groups } }))).toBeUndefined();
  });
});
