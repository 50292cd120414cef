import { expect, test } from 'vitest';
import type { ResourceExchange } from '../../../../../apiserver/core.ts';
import { changePod } from '../../../../../apiserver/handlers/pods/running.ts';
import { Warnings } from '../../../../../apiserver/warnings.ts';
import { reflectedAs } from '../../../../../cluster/reflected.ts';
import { encodeJson } from '../../../../../kube/json.ts';
import type { KubeObject } from '../../../../../kube/object.ts';

const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'set', controller: true };
const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-1',
    namespace: 'default',
    uid: 'u',
    annotations: reflectedAs({}, 'u', ['east']),
    ownerReferences: [set],
  },
};

test('what is written is answered so, though its controller could not be told to have it again', async () => {
  const warnings = new Warnings();
  const info = { group: '', resource: 'pods', namespaced: true };
  const exchange = {
    core: {
      registry: { read: async () => ({ value: Buffer.from(encodeJson(pod)), revision: 1n, key: 'k' }) },
      connectPod: async () => ({
        transport: async () => ({ status: 200 }),
        path: '/p',
        ownersThere: async () => [],
      }),
      store: { get: () => Promise.reject(new Error('the store is away')) },
    },
    info: { cluster: 'root', namespace: 'default', name: 'web-1', subresource: '' },
    stored: { info },
    user: { name: 'admin', groups: [] },
    warnings,
  } as unknown as ResourceExchange;
  const taken: KubeObject = { ...pod, metadata: { ...pod.metadata, ownerReferences: [] } };
  const written: boolean[] = [];
  const changed = await changePod(exchange, false, async (dryRun) => {
    written.push(dryRun);
    return taken;
  });
  expect(written).toEqual([true, false]);
  expect(changed).toEqual({ object: taken });
  expect(warnings.texts).toEqual([expect.stringContaining('could not be made its controller again')]);
});
