import { afterEach, beforeEach, expect, test } from 'vitest';
import { runQuotaController } from '../../../../controller/quota/controller.ts';
import { type Extension, group, gv, startExtension } from '../../../aggregation/extension.ts';
import { eventually } from '../../../eventually.ts';
import { type Api, startApi } from '../api.ts';
import { control, register } from './scene.ts';

let api: Api;
let extension: Extension;
let stop: () => Promise<unknown>;
beforeEach(async () => {
  extension = await startExtension();
  api = startApi();
  ({ stop } = control(api, runQuotaController));
});
afterEach(async () => {
  await stop();
  await api.close();
  await extension.close();
});

const quotas = '/api/v1/namespaces/default/resourcequotas';
const name = `count/flunders.${group}`;
const make = (hard: object) =>
  api.call('POST', quotas, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard },
  });
const told = (status: object) =>
  eventually(async () => expect((await api.call('GET', `${quotas}/q`)).body.status).toEqual(status));

test('what another API server has is counted once it is there, in its namespace alone', async () => {
  const hard = { [name]: '5', services: '9' };
  expect((await make(hard)).status).toBe(201);
  await told({ hard, used: { services: '0' } });
  await register(api, extension);
  await told({ hard, used: { [name]: '0', services: '1' } });
  await api.call('DELETE', `${quotas}/q`);
  for (const namespace of ['default', 'default', 'other']) {
    const flunder = { apiVersion: gv, kind: 'Flunder', metadata: { name: `f-${Math.random()}` } };
    await api.call('POST', `/apis/${gv}/namespaces/${namespace}/flunders`, flunder);
  }
  expect((await make(hard)).status).toBe(201);
  await told({ hard, used: { [name]: '2', services: '1' } });
});

test('while it does not answer all else is counted', async () => {
  await register(api, extension);
  extension.instead = (_request, response) => {
    response.writeHead(500).end();
    return true;
  };
  await make({ [name]: '5', services: '9' });
  await told({ hard: { [name]: '5', services: '9' }, used: { services: '1' } });
});
