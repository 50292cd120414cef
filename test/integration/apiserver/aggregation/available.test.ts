import { afterEach, beforeEach, expect, test } from 'vitest';
import { runAvailabilityController } from '../../../../controller/aggregation/controller.ts';
import { type Extension, group, gv, startExtension, version } from '../../../aggregation/extension.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, startApi } from '../api.ts';
import { apiService, apiServices, authentication, control, externalService } from './scene.ts';

let api: Api;
let extension: Extension;
let stop: () => Promise<unknown>;
beforeEach(async () => {
  extension = await startExtension();
  api = startApi();
  stop = askEvery(100);
});
afterEach(async () => {
  await stop();
  await api.close();
  await extension.close();
});

const askEvery = (everyMs: number) =>
  control(api, (options) => runAvailabilityController({ ...options, everyMs })).stop;

const services = '/api/v1/namespaces/default/services';
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const becomes = (reason: string, prefix = '', name = `${version}.${group}`) =>
  eventually(async () => {
    const { body } = await api.call('GET', `${prefix}${apiServices}/${name}`);
    expect(body.status?.conditions).toMatchObject([{ type: 'Available', reason }]);
    return body.status.conditions[0];
  });

async function trustHere(prefix = ''): Promise<void> {
  const { body } = await api.call('GET', prefix + authentication);
  extension.trust(body.data['requestheader-client-ca-file']);
}

async function discovered(
  prefix = '',
): Promise<{ version: string; freshness: string; resources?: unknown[] }[]> {
  const { body } = await api.call('GET', `${prefix}/apis`, undefined, { accept: aggregated });
  return body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === group)?.versions;
}

test('an APIService is available while its server answers, and says why where it does not', async () => {
  await trustHere();
  await api.call('POST', apiServices, apiService(extension));
  expect(await becomes('ServiceNotFound')).toMatchObject({ status: 'False' });
  await api.call('POST', services, externalService());
  expect(await becomes('Passed')).toMatchObject({ status: 'True', message: 'all checks passed' });
  expect(extension.asked[0]).toMatchObject({
    url: `/apis/${gv}`,
    headers: { 'x-remote-user': 'system:kube-aggregator', 'x-remote-group': 'system:masters' },
  });
  expect((await api.call('GET', `/apis/${gv}/flunders`)).status).toBe(200);
  extension.instead = (_request, response) => {
    response.writeHead(500).end();
    return true;
  };
  const url = `https://wardle.default.svc:${extension.port}/apis/${gv}`;
  expect((await becomes('FailedDiscoveryCheck')).message).toBe(
    `failing or missing response from ${url}: bad status from ${url}: 500`,
  );
  expect((await api.call('GET', `/apis/${gv}/flunders`)).status).toBe(503);
  extension.instead = undefined;
  await becomes('Passed');
  await api.call('DELETE', `${services}/wardle`);
  await becomes('ServiceNotFound');
});

test('and is asked at once when it is changed', async () => {
  await stop();
  stop = askEvery(3_600_000);
  await trustHere();
  await api.call('POST', services, externalService());
  await api.call('POST', apiServices, apiService(extension));
  await becomes('Passed');
  const changed = { spec: { caBundle: null } };
  const { status } = await api.call('PATCH', `${apiServices}/${version}.${group}`, changed);
  expect(status).toBe(200);
  expect((await becomes('FailedDiscoveryCheck')).message).toContain('certificate');
});

test('one that names no Service any more is told of as local', async () => {
  await api.call('POST', apiServices, apiService(extension));
  await becomes('ServiceNotFound');
  const local = { spec: { service: null, caBundle: null, insecureSkipTLSVerify: null } };
  expect((await api.call('PATCH', `${apiServices}/${version}.${group}`, local)).status).toBe(200);
  expect(await becomes('Local')).toMatchObject({
    status: 'True',
    message: 'Local APIServices are always available',
  });
});

test('nor is it while its server begins answers that never come', async () => {
  await trustHere();
  await api.call('POST', services, externalService());
  await api.call('POST', apiServices, apiService(extension));
  await becomes('Passed');
  extension.instead = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    setTimeout(() => response.destroy(), 50);
    return true;
  };
  expect(await becomes('FailedDiscoveryCheck')).toMatchObject({ status: 'False' });
});

test('one of a group that this server serves itself is told so, and its server is not asked', async () => {
  await api.call('POST', services, externalService());
  await api.call('POST', apiServices, apiService(extension, { group: 'apps', version: 'v1' }));
  await becomes('Local', '', 'v1.apps');
  expect(extension.asked).toEqual([]);
});

test('its groups are discovered in their logical cluster, stale while they do not answer', async () => {
  const other = await api.addCluster('root:other');
  await trustHere();
  await api.call('POST', services, externalService());
  await api.call('POST', apiServices, apiService(extension));
  await becomes('Passed');
  const kinds = [
    { resource: 'flunders', scope: 'Namespaced', shortNames: ['fl'], responseKind: { kind: 'Flunder' } },
  ];
  expect(await discovered()).toMatchObject([{ version, freshness: 'Current', resources: kinds }]);
  const { body } = await api.call('GET', '/apis');
  expect(body.groups.at(-1)).toMatchObject({ name: group, preferredVersion: { version } });
  expect((await api.call('GET', `/apis/${group}`)).body.versions).toEqual([{ groupVersion: gv, version }]);
  for (const prefix of [`/clusters/${other}`, '/clusters/*']) {
    expect(await discovered(prefix)).toBeUndefined();
    expect((await api.call('GET', `${prefix}/apis/${group}`)).status).toBe(404);
  }
  extension.instead = (request) => {
    request.socket.destroy();
    return true;
  };
  await becomes('FailedDiscoveryCheck');
  expect(await discovered()).toMatchObject([{ version, freshness: 'Stale', resources: kinds }]);
  expect((await api.call('GET', '/apis')).body.groups.at(-1).name).toBe(group);
});
