import { afterEach, expect, test } from 'vitest';
import { Cache } from '../../../client/cache.ts';
import { Client } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';
import { silentLogger as logger } from '../../../kube/log.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Engine } from '../../../syncer/engine.ts';
import { NodeReflector } from '../../../syncer/nodes.ts';
import type { Owners } from '../../../syncer/owners.ts';
import { PodReflector } from '../../../syncer/pods.ts';
import { Unreadable } from '../../../syncer/unreadable.ts';
import { eventually } from '../../eventually.ts';

const shop = 'root-shop-0123abcd';

const life = new AbortController();
afterEach(() => life.abort());
const { signal } = life;

/** Knows all that is put. */
function known() {
  const cache = new Cache<KubeObject>((error) => expect.fail(String(error)));
  return { cache, informer: Object.assign(cache, { synced: Promise.resolve() }) as unknown as Informer };
}

const named = (kind: string, name: string, fields: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, uid: `${kind}-${name}`, resourceVersion: '1' },
  ...fields,
});

async function* nothing(): AsyncIterable<Uint8Array> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  yield* [];
}

const answer = (body: unknown): ApiResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
});

/** Lists these, and tells of nothing more. */
const serving = (...items: KubeObject[]) =>
  new Client(async ({ url }: ApiRequest) =>
    url.includes('watch=true')
      ? { ...answer({}), body: nothing() }
      : answer({ kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items }),
  );

test('the node of a pod that is heard of before its namespace is shown once that is', async () => {
  const pod = named('Pod', 'web', { spec: { nodeName: 'n1' } });
  pod.metadata.namespace = shop;
  const [nodes, namespaces] = [known(), known()];
  const shown: string[] = [];
  const upstream = new Client(async ({ method, url, body }: ApiRequest) => {
    if (method !== 'PUT') return answer({ kind: 'NodeList', apiVersion: 'v1', metadata: {}, items: [] });
    shown.push(url);
    return answer(JSON.parse(String(body)));
  });
  const isOurs = (name: string) => namespaces.cache.get(`root//${name}`) !== undefined;
  const engine = {
    name: 'east',
    client: serving(pod),
    upstream,
    signal,
    logger,
    unreadable: new Unreadable(() => {}),
    namespaces: {
      informer: namespaces.informer,
      own: (name: string) => (isOurs(name) ? { locator: { cluster: 'one', namespace: 'shop' } } : undefined),
    },
  } as unknown as Engine;
  const pods = new PodReflector(engine, {} as Owners, new Map());
  const reflector = new NodeReflector(engine, nodes.informer, pods.informer);
  void reflector.run([]);
  nodes.cache.put(named('Node', 'n1'));
  pods.informer.wake();
  await pods.informer.synced;
  await eventually(() => expect(reflector.isIdle).toBe(true));
  expect(shown).toEqual([]);

  namespaces.cache.put(named('Namespace', shop));
  await eventually(() => expect(shown).toHaveLength(1));
  expect(shown[0]).toContain('/clusters/one/api/v1/nodes/n1');
});
