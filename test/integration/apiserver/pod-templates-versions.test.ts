import { afterEach, beforeEach, expect, test } from 'vitest';
import { placementAdmission } from '../../../apiserver/admission/placement.ts';
import { ownUser } from '../../../apiserver/authn/controllers.ts';
import { controllersUser } from '../../../cluster/names.ts';
import { ownResources } from '../../../cluster/resources.ts';
import { type Answer, type Api, call, startApi } from './api.ts';
import { type Hooks, startHooks } from './webhook/hooks.ts';

/* A kind by rule in two versions, of which a webhook makes one of the other: v1, which is stored, has the template where the rule says. */

const root = '/clusters/root/apis';
const registration = `${root}/admissionregistration.k8s.io/v1`;
const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
const url = (version: string) => `${root}/example.com/${version}/namespaces/default/runs`;
const template = (image: string) => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image }] },
});

let api: Api;
let hooks: Hooks;
beforeEach(async () => {
  hooks = await startHooks({
    '/convert': ({ objects, desiredAPIVersion }) => ({
      result: { status: 'Success' },
      convertedObjects: objects.map((object: Answer) => {
        const { template: of, work = of, ...spec } = object.spec;
        const field = desiredAPIVersion.endsWith('/v1') ? 'template' : 'work';
        return { ...object, apiVersion: desiredAPIVersion, spec: { ...spec, [field]: work } };
      }),
    }),
  });
  const resources = ownResources.map((resource) => ({ ...resource, custom: true }));
  api = startApi({ podsElsewhere: true, resources, admission: [placementAdmission] });
  const expression = "!object.spec.containers.exists(c, c.image.contains('bad'))";
  await send('POST', `${registration}/validatingadmissionpolicies`, {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: { resourceRules: rules },
      validations: [{ expression, message: 'no bad images' }],
    },
  });
  await send('POST', `${registration}/validatingadmissionpolicybindings`, {
    metadata: { name: 'p' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  });
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open } } };
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: hooks.config('/convert') };
  await send('POST', `${root}/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    metadata: { name: 'runs.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'runs', singular: 'run', kind: 'Run', listKind: 'RunList' },
      versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
      conversion: { strategy: 'Webhook', webhook },
    },
  });
  await send('POST', `${root}/atoll.dev/v1alpha1/placedresources`, {
    metadata: { name: 'runs.example.com' },
    spec: { group: 'example.com', version: 'v1', resource: 'runs' },
  });
});
afterEach(async () => {
  await api.close();
  await hooks.close();
});

async function send(method: string, path: string, body: object): Promise<Answer> {
  const { status, body: answer } = await api.call(method, path, body, {});
  if (status >= 400) throw new Error(`${status}: ${JSON.stringify(answer)}`);
  return answer;
}

const run = (version: string, name: string, spec: object) =>
  send('POST', url(version), {
    apiVersion: `example.com/${version}`,
    kind: 'Run',
    metadata: { name },
    spec,
  });
const said = (object: Answer) => JSON.parse(object.metadata.annotations?.['atoll.dev/pod-admission'] ?? '{}');
const denied = expect.stringContaining('no bad images');

test.each([
  ['v1', 'template'],
  ['v2', 'work'],
])('its pods are asked about in whatever version it is written: %s', async (version, field) => {
  expect(said(await run(version, 'good', { [field]: template('good') }))).toEqual({});
  expect(said(await run(version, 'bad', { [field]: template('bad') }))).toEqual({ refused: denied });
});

test('what is changed in the other version keeps the pods of what was admitted, as it is stored', async () => {
  await run('v1', 'one', { template: template('good') });
  const changed = await send('PATCH', `${url('v2')}/one`, { spec: { work: template('bad') } });
  expect(said(changed)).toEqual({
    refused: denied,
    patch: [{ op: 'replace', path: '/spec/containers/0/image', value: 'good' }],
    path: ['spec', 'template'],
  });
  expect(changed.spec).toEqual({ work: template('bad') });
});

test('what is refused stays refused where it was, though its rule comes to lead elsewhere, until it is not', async () => {
  await run('v1', 'one', { template: template('good') });
  const before = await send('PATCH', `${url('v1')}/one`, { spec: { template: template('bad') } });
  const rule = `${root}/atoll.dev/v1alpha1/placedresources/runs.example.com`;
  await send('PATCH', rule, { spec: { templatePath: '.spec.other' } });
  const own = api.server.transport(ownUser(controllersUser));
  const asked = (await call(own, 'PATCH', `${url('v1')}/one`, {})).body;
  expect(said(asked)).toEqual(said(before));
  const good = { template: template('better'), other: template('bad') };
  const admitted = await send('PATCH', `${url('v1')}/one`, { spec: good });
  expect(said(admitted)).toEqual({});
  const changed = await send('PATCH', `${url('v1')}/one`, { spec: { other: template('bad too') } });
  expect(said(changed).path).toEqual(['spec', 'other']);
});

test('where it is placed no more, nothing is said of its pods any more', async () => {
  await run('v1', 'one', { template: template('bad') });
  await run('v1', 'two', { template: template('bad') });
  await send('DELETE', `${root}/atoll.dev/v1alpha1/placedresources/runs.example.com`, {});
  const annotation = ['atoll.dev/pod-admission'];
  const changed = await send('PATCH', `${url('v1')}/one`, { spec: { template: template('other') } });
  expect(changed.metadata.annotations ?? {}).not.toHaveProperty(annotation);
  // Nor once somebody asks again.
  const own = api.server.transport(ownUser(controllersUser));
  const { metadata } = (await call(own, 'PATCH', `${url('v1')}/two`, {})).body;
  expect(metadata.annotations ?? {}).not.toHaveProperty(annotation);
});
