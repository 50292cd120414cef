import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Client } from '../../../../client/client.ts';
import { runAvailabilityController } from '../../../../controller/aggregation/controller.ts';
import { runGarbageCollector } from '../../../../controller/gc/controller.ts';
import { type Extension, group, gv, startExtension, version } from '../../../aggregation/extension.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, startApi } from '../api.ts';
import { control, register } from './scene.ts';

let api: Api;
let extension: Extension;
let stop: () => Promise<unknown>;
let client: Client;
beforeEach(async () => {
  extension = await startExtension();
  api = startApi();
  const run = (options: Parameters<typeof runGarbageCollector>[0]) =>
    Promise.all([runGarbageCollector({ ...options, othersMs: 50 }), runAvailabilityController(options)]);
  ({ stop, client } = control(api, run));
  await register(api, extension);
});
afterEach(async () => {
  await stop();
  await api.close();
  await extension.close();
});

const flunders = `/apis/${gv}/namespaces/default/flunders`;
const configMaps = '/api/v1/namespaces/default/configmaps';
const make = async (at: string, apiVersion: string, kind: string, name: string, owners: object[] = []) => {
  const object = { apiVersion, kind, metadata: { name, ownerReferences: owners } };
  const { status, body } = await api.call('POST', at, object);
  expect([status, body.message]).toEqual([201, undefined]);
  return { apiVersion, kind, name, uid: body.metadata.uid as string };
};
const flunder = (name: string, owners?: object[]) => make(flunders, gv, 'Flunder', name, owners);
const configMap = (name: string, owners?: object[]) => make(configMaps, 'v1', 'ConfigMap', name, owners);
const goes = (path: string) =>
  eventually(async () => expect((await api.call('GET', path)).status, path).toBe(404));
const nobody = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'none' };

test('what another API server has goes with its owner here', async () => {
  const owner = await configMap('owner');
  await flunder('owned', [owner]);
  await flunder('other');
  await flunder('alone', [nobody]);
  await goes(`${flunders}/alone`);
  expect((await api.call('GET', `${flunders}/owned`)).status).toBe(200);
  await api.call('DELETE', `${configMaps}/owner`);
  await goes(`${flunders}/owned`);
  expect((await api.call('GET', `${flunders}/other`)).status).toBe(200);
});

test('and what is here goes with its owner there, and not before', async () => {
  const owner = await flunder('owner');
  await configMap('owned', [owner]);
  await configMap('alone', [{ ...owner, uid: 'none' }]);
  await goes(`${configMaps}/alone`);
  expect((await api.call('GET', `${configMaps}/owned`)).status).toBe(200);
  await api.call('DELETE', `${flunders}/owner`);
  await goes(`${configMaps}/owned`);
});

test('nothing goes for the word of a server that fails, nor while it does not answer', async () => {
  const owner = await flunder('owner');
  await configMap('owned', [owner]);
  const list = `/apis/${gv}/flunders`;
  const asked = () => extension.asked.filter(({ url }) => url.startsWith(list)).length;
  await eventually(() => expect(asked()).toBeGreaterThan(1));
  extension.instead = (_request, response) => {
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"items":[]}');
    return true;
  };
  await flunderListsFail();
  expect((await api.call('GET', `${configMaps}/owned`)).status).toBe(200);

  async function flunderListsFail(): Promise<void> {
    const before = extension.asked.length;
    await eventually(() => expect(extension.asked.length).toBeGreaterThan(before + 3));
  }
});

test('a uid that a server says is nobody else’s: what depends on it in another logical cluster stays as it is', async () => {
  const other = await api.addCluster('root:team-a');
  const there = `/clusters/${other}`;
  await api.call('POST', `${there}/api/v1/namespaces`, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'default' },
  });
  const owner = { apiVersion: 'unknown.example.com/v1', kind: 'Unknown', name: 'owner', uid: 'uid-9' };
  const made = await api.call('POST', there + configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'victim', ownerReferences: [owner] },
  });
  expect(made.status).toBe(201);
  const says = { uid: 'uid-9', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] };
  let lists = 0;
  extension.instead = ({ url = '' }, response) => {
    if (!url.includes('/flunders')) return false;
    const forged = {
      apiVersion: gv,
      kind: 'Flunder',
      metadata: { name: 'owner', namespace: 'default', ...says },
    };
    const isList = !/flunders\/./.test(url);
    // First it is there, then it is not.
    const items = isList && lists++ < 3 ? [forged] : [];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(isList ? { kind: 'FlunderList', apiVersion: gv, metadata: {}, items } : forged),
    );
    return true;
  };
  await eventually(() => expect(lists).toBeGreaterThan(5));
  const { status, body } = await api.call('GET', `${there}${configMaps}/victim`);
  expect([status, body.metadata?.ownerReferences]).toEqual([200, [owner]]);
});

test('what is first seen while another list fails is followed all the same', async () => {
  const resource = (name: string, kind: string) => ({
    name,
    kind,
    namespaced: true,
    verbs: ['get', 'list', 'delete'],
  });
  let isFailing = true;
  let failed = 0;
  extension.instead = ({ url = '' }, response) => {
    const say = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const isFischers = url.includes('/fischers');
    if (url === `/apis/${gv}`)
      say(200, {
        kind: 'APIResourceList',
        resources: [resource('flunders', 'Flunder'), resource('fischers', 'Fischer')],
      });
    else if (isFischers && isFailing) say(500, { failed: ++failed });
    else if (isFischers) say(200, { kind: 'FischerList', apiVersion: gv, metadata: {}, items: [] });
    else return false;
    return true;
  };
  const owner = await flunder('owner');
  await configMap('owned', [owner]);
  const before = failed;
  await eventually(() => expect(failed).toBeGreaterThan(before + 2));
  isFailing = false;
  await api.call('DELETE', `${flunders}/owner`);
  await goes(`${configMaps}/owned`);
});

test('whatever stands in a list in place of objects keeps nobody from being collected', async () => {
  const owned = { name: 'x', namespace: 'default', uid: 'x' };
  const odd = [
    null,
    5,
    { metadata: null },
    { metadata: { ...owned, uid: {} } },
    { metadata: { ...owned, ownerReferences: [null, 'a', { uid: {} }] } },
    { metadata: { ...owned, uid: 'z', finalizers: Array(1_001).fill('a'), ownerReferences: [nobody] } },
    { metadata: { ...owned, uid: 'y', ownerReferences: 'abc', finalizers: 5, deletionTimestamp: 1 } },
  ];
  extension.instead = ({ url = '', method }, response) => {
    if (method !== 'GET' || !/\/flunders(\?|$)/.test(url)) return false;
    const alone = { name: 'alone', namespace: 'default', uid: 'uid-2', ownerReferences: [nobody] };
    const list = { kind: 'FlunderList', apiVersion: gv, metadata: {}, items: [...odd, { metadata: alone }] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
    return true;
  };
  await flunder('alone', [nobody]);
  await goes(`${flunders}/alone`);
});

test('whoever says of a uid that it is theirs keeps nothing of another logical cluster from being collected', async () => {
  const there = `/clusters/${await api.addCluster('root:team-a')}`;
  for (const name of ['default', 'kube-system']) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await api.call('POST', `${there}/api/v1/namespaces`, namespace);
  }
  const second = await startExtension();
  try {
    await register(api, second, there);
    const owner = { apiVersion: gv, kind: 'Flunder', name: 'owner', uid: 'shared' };
    const forged = {
      metadata: { name: 'forged', namespace: 'default', uid: 'shared', ownerReferences: [owner] },
    };
    let seen = 0;
    extension.instead = ({ url = '' }, response) => {
      if (!/\/flunders(\?|$)/.test(url)) return false;
      seen++;
      const list = { kind: 'FlunderList', apiVersion: gv, metadata: {}, items: [forged] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
      return true;
    };
    await eventually(() => expect(seen).toBeGreaterThan(2));
    let isThere = true;
    second.instead = ({ url = '' }, response) => {
      if (!url.includes('/flunders')) return false;
      const found = {
        kind: 'Flunder',
        apiVersion: gv,
        metadata: { ...forged.metadata, name: 'owner', ownerReferences: [] },
      };
      const missing = { kind: 'Status', reason: 'NotFound', code: 404, details: { name: 'owner' } };
      const isOne = url.includes('/flunders/');
      const list = { kind: 'FlunderList', apiVersion: gv, metadata: {}, items: isThere ? [found] : [] };
      response.writeHead(isOne && !isThere ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isOne ? (isThere ? found : missing) : list));
      return true;
    };
    const made = await api.call('POST', there + configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'owned', ownerReferences: [owner] },
    });
    expect(made.status).toBe(201);
    const asked = () => second.asked.filter(({ url }) => url.endsWith('/flunders/owner')).length;
    await eventually(() => expect(asked()).toBeGreaterThan(0));
    isThere = false;
    await goes(`${there}${configMaps}/owned`);
  } finally {
    await second.close();
  }
});

test('an object that is larger than any is not read to its end', async () => {
  extension.instead = ({ url = '' }, response) => {
    if (!url.includes('/flunders/')) return false;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ metadata: {}, data: 'a'.repeat(1536 << 10) }));
    return true;
  };
  const resource = { group, version, resource: 'flunders' };
  const target = { cluster: 'root', namespace: 'default', name: 'large' };
  await expect(client.get(resource, target)).rejects.toThrow('too long');
  expect((await api.call('GET', `${flunders}/large`)).status).toBe(200);
});
