import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDisk } from '../../../storage/level/disk.ts';
import { startLevel } from '../../../storage/level/level.ts';
import { until } from '../../contract/until.ts';
import { startApi } from './api.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

test('a full disk is a Status with code 507; reads go on, and writes do by themselves once there is room', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'api-full-'));
  const disk = await openDisk(directory, false);
  const logged: string[] = [];
  const log = (message: string) => logged.push(message);
  const store = await startLevel(disk, { logger: { info: log, warn: log } });
  const api = startApi({ store });
  expect((await api.call('POST', configMaps, configMap('before'))).status).toBe(201);

  const { commit, reopen } = { commit: disk.commit.bind(disk), reopen: disk.reopen.bind(disk) };
  const full = async () => {
    throw new Error('IO error: db/000005.log: No space left on device');
  };
  disk.commit = full;
  disk.reopen = full;
  for (const name of ['a', 'b']) {
    const { status, body } = await api.call('POST', configMaps, configMap(name));
    expect(status).toBe(507);
    expect(body).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      code: 507,
      reason: 'InsufficientStorage',
    });
  }
  const changed = { ...configMap('before'), data: { a: '1' } };
  expect((await api.call('PUT', `${configMaps}/before`, changed)).status).toBe(507);
  expect((await api.call('GET', `${configMaps}/before`)).status).toBe(200);
  expect((await api.call('GET', configMaps)).body.items).toHaveLength(1);

  disk.commit = commit;
  disk.reopen = reopen;
  let made = false;
  await until(() => {
    void api.call('POST', configMaps, configMap('after')).then(({ status }) => {
      made ||= status === 201;
    });
    return made;
  });
  const { items } = (await api.call('GET', configMaps)).body;
  expect(items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([
    'after',
    'before',
  ]);
  expect(logged.some((line) => /no write is accepted/.test(line))).toBe(true);
  expect(logged.some((line) => /accepts writes again/.test(line))).toBe(true);
  await api.close();
  await rm(directory, { recursive: true });
});
