import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { rewriteObject } from '../../../apiserver/registry/rewrite.ts';
import { controllersUser, schedulerUser, splitterUser } from '../../../cluster/names.ts';
import { ownResources } from '../../../cluster/resources.ts';
import type { UserInfo } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { openMemory } from '../../../storage/memory/memory.ts';
import { type Entry, type Store, StoreError } from '../../../storage/store.ts';
import { type Api, admin, call, configMaps, startApi } from './api.ts';
import { startHooks } from './webhook/hooks.ts';

const key = '/core/configmaps/root/default/a';
const own = ownUser(controllersUser);
const url = `${configMaps}/a`;

/** What the process says that it saw last, and what is asked of the store about that key. */
let seen: Entry | undefined;
let asked: string[];
let update: Store['update'] | undefined;
let stored: Store;
let api: Api;

function seeing(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'seen') return (of: string) => (of === key ? seen : undefined);
      if (name === 'update' && update) return update;
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== 'function') return found;
      return (...args: unknown[]) => {
        if (args[0] === key) asked.push(String(name));
        return found.apply(target, args);
      };
    },
  });
}

beforeEach(async () => {
  seen = undefined;
  update = undefined;
  stored = openMemory();
  asked = [];
  const resources = ownResources.map((resource) => ({
    ...resource,
    columns: [...resource.columns],
    custom: true,
  }));
  api = startApi({ store: seeing(stored), resources });
  await api.call('POST', configMaps, { metadata: { name: 'a' }, data: { n: '1' } });
  seen = await stored.get(key);
  asked = [];
});
afterEach(() => api.close());

const patch = (body: object, user: UserInfo = own, query = '') =>
  call(api.server.transport(user), 'PATCH', `${url}${query}`, body);

/** What somebody else makes of it, of which this process has heard nothing. */
async function behind(body: object): Promise<void> {
  expect((await patch(body, admin)).status).toBe(200);
  asked = [];
}

describe('what was seen last is changed', () => {
  test('without a question where it is what is there', async () => {
    const { status, body } = await patch({ data: { more: 'yes' } });
    expect([status, body.data, asked]).toEqual([200, { n: '1', more: 'yes' }, ['update']]);
  });

  test('and anew, as it is, where somebody wrote since: nothing of that is lost', async () => {
    await behind({ data: { n: '2', theirs: 'yes' } });
    const { body } = await patch({ data: { more: 'yes' } });
    expect([body.data, asked]).toEqual([{ n: '2', theirs: 'yes', more: 'yes' }, ['update', 'get', 'update']]);
  });

  test('under the revision that was named, by which what was seen is too old, or too new', async () => {
    const first = seen;
    await behind({ data: { n: '2' } });
    const resourceVersion = String((await stored.get(key))?.revision);
    const { status, body } = await patch({ metadata: { resourceVersion }, data: { more: 'yes' } });
    expect([status, body.data, asked]).toEqual([200, { n: '2', more: 'yes' }, ['get', 'update']]);
    asked = [];
    const late = await patch({ metadata: { resourceVersion: String(first?.revision) }, data: { n: '3' } });
    expect([late.status, late.body.reason]).toEqual([409, 'Conflict']);
    expect((await stored.get(key))?.revision).toBe(Number(body.metadata.resourceVersion));
  });

  test('by no refusal of what it was', async () => {
    await behind({ immutable: true });
    seen = await stored.get(key);
    expect((await api.call('DELETE', url)).status).toBe(200);
    await api.call('POST', configMaps, { metadata: { name: 'a' }, data: { n: 'new' } });
    asked = [];
    const { status, body } = await patch({ data: { n: '4' } });
    expect([status, body.data, asked]).toEqual([200, { n: '4' }, ['get', 'update']]);
  });

  test('by no failure of what it was', async () => {
    const hooks = await startHooks({
      '/fails': () => ({ allowed: false, status: { code: 500, message: 'no' } }),
    });
    try {
      const rule = {
        apiGroups: [''],
        apiVersions: ['v1'],
        operations: ['UPDATE'],
        resources: ['configmaps'],
      };
      const webhook = {
        name: 'a.example.com',
        clientConfig: hooks.config('/fails'),
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        rules: [rule],
        objectSelector: { matchLabels: { asked: 'yes' } },
      };
      await behind({ metadata: { labels: { asked: 'yes' } } });
      seen = await stored.get(key);
      expect((await api.call('DELETE', url)).status).toBe(200);
      await api.call('POST', configMaps, { metadata: { name: 'a' }, data: { n: 'new' } });
      const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
      expect((await api.call('POST', path, { metadata: { name: 'a' }, webhooks: [webhook] })).status).toBe(
        201,
      );
      asked = [];
      const { status, body } = await patch({ data: { n: '4' } });
      expect([status, body.data, asked]).toEqual([200, { n: '4' }, ['get', 'update']]);
    } finally {
      await hooks.close();
    }
  });

  test('and refused as what it is', async () => {
    await behind({ immutable: true });
    const { status, body } = await patch({ data: { n: '4' } });
    expect([status, body.reason, asked]).toEqual([422, 'Invalid', ['update', 'get']]);
  });

  test('though it was that already: whether it still is, is asked', async () => {
    await behind({ data: { n: '2' } });
    const { body } = await patch({ data: { n: '1' } });
    expect([body.data, asked]).toEqual([{ n: '1' }, ['get', 'update']]);
    asked = [];
    seen = await stored.get(key);
    expect((await patch({ data: { n: '1' } })).body.metadata.resourceVersion).toBe(String(seen?.revision));
    expect(asked).toEqual(['get']);
  });

  test('and is gone where it is gone', async () => {
    expect((await api.call('DELETE', url)).status).toBe(200);
    asked = [];
    expect([(await patch({ data: { n: '4' } })).status, asked]).toEqual([404, ['update', 'get']]);
  });

  test('and is deleted by what lets it go only once it is read', async () => {
    await behind({ metadata: { finalizers: ['example.com/a', 'example.com/b'] } });
    expect((await api.call('DELETE', url)).status).toBe(200);
    seen = await stored.get(key);
    asked = [];
    expect((await patch({ metadata: { finalizers: ['example.com/a'] } })).status).toBe(200);
    expect(asked).toEqual(['update']);
    seen = await stored.get(key);
    asked = [];
    expect((await patch({ metadata: { finalizers: null } })).status).toBe(200);
    expect(asked).toEqual(['get', 'delete']);
  });

  test('by our own controllers alone, and not to try it', async () => {
    expect((await patch({ data: { more: 'yes' } }, admin)).status).toBe(200);
    expect(asked).toEqual(['get', 'update']);
    asked = [];
    expect((await patch({ data: { n: '5' } }, own, '?dryRun=All')).status).toBe(200);
    expect(asked).toEqual(['get']);
  });

  test('once, where nobody knows what became of the write', async () => {
    let writes = 0;
    update = () => {
      writes++;
      return Promise.reject(new StoreError('unavailable', 'it is gone'));
    };
    expect((await patch({ data: { more: 'yes' } })).status).toBe(503);
    expect([writes, asked]).toEqual([1, []]);
  });
});

describe('what the server itself writes', () => {
  const address = {
    resource: { group: '', resource: 'configmaps', namespaced: true },
    cluster: 'root',
    namespace: 'default',
    name: 'a',
  };
  const counted = (object: KubeObject | undefined) =>
    object && { ...object, data: { n: `${Number((object['data'] as { n: string }).n) + 1}` } };
  const dataNow = async () => JSON.parse(Buffer.from((await stored.get(key))?.value ?? '').toString()).data;

  test('is written over what was seen last, or over what is there', async () => {
    const store = seeing(stored);
    await rewriteObject(store, address, counted, { guesses: true });
    expect([await dataNow(), asked]).toEqual([{ n: '2' }, ['update']]);
    asked = [];
    await rewriteObject(store, address, counted, { guesses: true });
    expect([await dataNow(), asked]).toEqual([{ n: '3' }, ['update', 'get', 'update']]);
  });

  test('is not left, deleted or refused for what was seen last', async () => {
    const store = seeing(stored);
    await behind({ data: { n: '7' } });
    asked = [];
    await rewriteObject(store, address, (it) => it, { guesses: true });
    const once = (it: KubeObject | undefined) => {
      if ((it as { data?: { n: string } } | undefined)?.data?.n === '1') throw new Error('it is 1');
      return counted(it);
    };
    await rewriteObject(store, address, once, { guesses: true });
    expect([await dataNow(), asked]).toEqual([{ n: '8' }, ['get', 'get', 'update']]);
    asked = [];
    await rewriteObject(store, address, () => undefined, { guesses: true });
    expect([await stored.get(key), asked]).toEqual([undefined, ['get', 'delete']]);
  });
});

describe('a Placement', () => {
  const placements = '/apis/atoll.dev/v1alpha1/namespaces/default/placements';
  const write = (user: UserInfo, method: string, path: string, body: object) =>
    call(api.server.transport(user), method, path, body);
  const ref = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', name: 'a', uid: 'u' };
  const condition = { type: 'Settled', status: 'True', reason: 'Settled', message: '' };
  const conditions = [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }];

  test('has its shares and what is said of them by one write, and nobody is noted to own a field', async () => {
    const made = await write(ownUser(schedulerUser), 'POST', placements, {
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'Placement',
      metadata: { name: 'a.configmaps' },
      spec: { ref, clusters: ['east'] },
      status: { conditions },
    });
    expect([made.status, made.body.status]).toEqual([201, undefined]);
    const change = { spec: { shares: { east: { phase: 'Joining' } } }, status: { conditions } };
    const { status, body } = await write(
      ownUser(splitterUser),
      'PATCH',
      `${placements}/a.configmaps`,
      change,
    );
    expect(status).toBe(200);
    expect([body.spec.shares, body.status, body.metadata.generation]).toEqual([
      { east: { phase: 'Joining' } },
      { conditions },
      2,
    ]);
    expect([made.body.metadata.managedFields, body.metadata.managedFields]).toEqual([undefined, undefined]);
    const decided = await write(ownUser(schedulerUser), 'PATCH', `${placements}/a.configmaps`, {
      spec: { clusters: ['west'] },
    });
    expect(decided.body.status).toEqual({ conditions });
  });
});
