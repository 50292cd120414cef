import { beforeEach, expect, test } from 'vitest';
import { rewriteObject } from '../../../../apiserver/registry/rewrite.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import type { Store } from '../../../../storage/store.ts';

const resource = { group: '', resource: 'events', namespaced: true };
const address = { resource, cluster: 'root', namespace: 'n', name: 'a' };
const event = (reason: string): KubeObject => ({
  kind: 'Event',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'n' },
  reason,
});

let asked: string[];
let store: Store;
beforeEach(() => {
  asked = [];
  store = new Proxy(openMemory(), {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== 'function') return found;
      return (...args: unknown[]) => {
        asked.push(String(name));
        return found.apply(target, args);
      };
    },
  });
});

const put = (change: (before: KubeObject | undefined) => KubeObject | undefined) =>
  rewriteObject(store, address, change, { isNew: true });

test('what is new is made without a question', async () => {
  expect((await put(() => event('Pulled')))?.['reason']).toBe('Pulled');
  expect(asked).toEqual(['create']);
});

test('what was taken to be new and is there is changed as it is', async () => {
  await put(() => event('Pulled'));
  asked = [];
  const said = (before: KubeObject | undefined) => event(`${before?.['reason']} again`);
  expect((await put(said))?.['reason']).toBe('Pulled again');
  expect(asked).toEqual(['create', 'get', 'update']);
});

test('nothing is refused, nor left out, before it is known that there is none', async () => {
  await put(() => event('Pulled'));
  asked = [];
  const refused = put((before) => {
    if (!before) throw new Error('it has to be there');
    return before;
  });
  expect((await refused)?.['reason']).toBe('Pulled');
  expect((await put((before) => before))?.['reason']).toBe('Pulled');
  expect(asked).toEqual(['get', 'get']);
});
