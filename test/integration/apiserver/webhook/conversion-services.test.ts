import { request } from 'node:https';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Transport } from '../../../../kube/http.ts';
import { RequestMetrics } from '../../../../server/metrics/requests.ts';
import { definition, widget, widgets } from '../../../conversion/definition.ts';
import { lies } from '../../../conversion/lies.ts';
import { type ConversionWebhook, startConversionWebhook } from '../../../conversion/webhook.ts';
import { type Api, startApi } from '../api.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const services = '/api/v1/namespaces/default/services';
const failed = 'conversion webhook for conversion.example.com/v1, Kind=Widget failed';
const reference = { name: 'hook', namespace: 'default', path: '/convert' };
const web = { ports: [{ name: 'web', port: 443 }] };

let api: Api;
let hook: ConversionWebhook;
beforeEach(async () => {
  hook = await startConversionWebhook();
});
afterEach(async () => {
  await api.close();
  await hook.close();
});

async function define(clientConfig: object): Promise<void> {
  const { status, body } = await api.call('POST', definitions, definition(hook, 'v1', { clientConfig }));
  expect([status, body.message]).toEqual([201, undefined]);
  await api.call('POST', widgets('v1'), widget('v1', 'a', { size: 1, host: 'one:80' }));
}

const service = (name: string, spec: object) =>
  api.call('POST', services, { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });

/** As the API of a physical cluster carries a call on to the Service's pods. */
function physicalCluster(asked: string[]): Transport {
  return ({ method, url, headers, body }) => {
    asked.push(`${method} ${url}`);
    return new Promise((resolve, reject) => {
      const call = request(hook.url, { method, headers, rejectUnauthorized: false }, async (answer) => {
        const chunks: Buffer[] = [];
        for await (const chunk of answer) chunks.push(chunk as Buffer);
        resolve({ status: answer.statusCode ?? 0, headers: {}, body: Buffer.concat(chunks) });
      });
      call.on('error', reject);
      call.end(body);
    });
  };
}

const converted = { status: 200, body: { spec: { size: 1, hostName: 'one', port: 80 } } };

describe('a conversion webhook that is named by its Service', () => {
  test('is called where its pods run, through the API of their physical cluster', async () => {
    const asked: string[] = [];
    const path = '/api/v1/namespaces/there/services/hook';
    const connectService = async (_cluster: string, { metadata }: { metadata: { name?: string } }) =>
      metadata.name === 'hook' ? { path, transport: physicalCluster(asked) } : undefined;
    api = startApi({ connectService });
    await service('hook', web);
    await define({ service: reference });
    expect(await api.call('GET', widgets('v2', 'a'))).toMatchObject(converted);
    const sent = widget('v2', 'b', { hostName: 'two', port: 81 });
    expect((await api.call('POST', widgets('v2'), sent)).status).toBe(201);
    expect((await api.call('GET', widgets('v1', 'b'))).body.spec.host).toBe('two:81');
    const url = '/api/v1/namespaces/there/services/https:hook:443/proxy/convert?timeout=30s';
    expect(new Set(asked)).toEqual(new Set([`POST ${url}`]));
  });

  test('is called under its own name, wherever it leads', async () => {
    api = startApi();
    await service('hook', { type: 'ExternalName', externalName: 'localhost' });
    const port = Number(new URL(hook.url).port);
    await define({ service: { ...reference, port }, caBundle: hook.caBundle });
    expect(await api.call('GET', widgets('v2', 'a'))).toMatchObject(converted);
    expect(hook.asked).toHaveLength(1);
  });

  test.each([
    ['nosvc', 'service "nosvc" not found'],
    ['headless', 'cannot route to service with ClusterIP "None"'],
    ['noport', 'no service port 443 found for service "noport"'],
    ['empty', 'no endpoints available for service "empty"'],
  ])('is not found, in the words of Kubernetes: %s', async (name, why) => {
    api = startApi();
    const ports = [{ port: name === 'noport' ? 80 : 443 }];
    if (name !== 'nosvc') await service(name, { ports, ...(name === 'headless' && { clusterIP: 'None' }) });
    await define({ service: { ...reference, name } });
    const { status, body } = await api.call('GET', widgets('v2', 'a'));
    const url = `https://${name}.default.svc:443/convert?timeout=30s`;
    expect([status, body.message]).toEqual([500, `${failed}: Post "${url}": ${why}`]);
  });
});

test.each([
  ['', {}],
  ['conversion_webhook_malformed_response_failure', lies.fails],
  ['conversion_webhook_no_objects_returned_failure', lies.fewer],
  ['conversion_webhook_invalid_converted_object_failure', lies['another kind']],
  ['conversion_webhook_call_failure', { raw: (response: { destroy(): void }) => void response.destroy() }],
])('what becomes of a call is counted as kube-apiserver counts it: %s', async (failure, lie) => {
  const metrics = new RequestMetrics();
  api = startApi({ observer: metrics });
  await define({ url: hook.url, caBundle: hook.caBundle });
  const counted = (name: string) =>
    metrics
      .families()
      .find(({ definition: { name: one } }) => one === `apiserver_conversion_webhook_${name}`);
  expect(counted('request_total')?.figures).toEqual([]);
  Object.assign(hook, lie);
  expect((await api.call('GET', widgets('v2', 'a'))).status).toBe(failure === '' ? 200 : 500);
  const labels = [failure === '' ? 'success' : 'failure', failure];
  expect(counted('request_total')?.figures).toEqual([{ labels, value: 1 }]);
  expect(counted('duration_seconds')?.spreads).toMatchObject([{ labels }]);
});
