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
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'PlacedResource',
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
  await send('PATCH', `${url('v1')}/one`, { spec: { other: template('other') } });
  const admitted = await send('PATCH', `${url('v1')}/one`, { spec: { template: template('better') } });
  expect(said(admitted)).toEqual({});
  const changed = await send('PATCH', `${url('v1')}/one`, { spec: { other: template('bad too') } });
  expect(said(changed).path).toEqual(['spec', 'other']);
});

const write = (spec: object) => send('PATCH', `${url('v1')}/one`, { spec });

async function refusedWhereItsRuleLed(spec: object): Promise<Answer> {
  await run('v1', 'one', { template: template('good'), ...spec });
  const before = await write({ template: template('bad') });
  const rule = `${root}/atoll.dev/v1alpha1/placedresources/runs.example.com`;
  await send('PATCH', rule, { spec: { templatePath: '.spec.other' } });
  return before;
}

test('what is refused where its rule led before is not written where it leads now, unless it is admitted there', async () => {
  const before = await refusedWhereItsRuleLed({});
  const bad = { other: template('bad') };
  for (const spec of [bad, { template: template('better'), ...bad }, { template: null, ...bad }])
    await expect(write(spec)).rejects.toThrow(/403.*\.spec\.other.*no bad images/);
  expect(said(await write({ other: template('other') }))).toEqual(said(before));
  expect(said(await write({ template: null }))).toEqual({});
});

test('what is admitted with changes alone comes where its rule leads now once these come, too', async () => {
  const before = await refusedWhereItsRuleLed({});
  const expression =
    "[JSONPatch{op: 'add', path: '/metadata/labels/added', value: object.spec.containers[0].image}]";
  await send('POST', `${registration}/mutatingadmissionpolicies`, {
    metadata: { name: 'm' },
    spec: {
      matchConstraints: { resourceRules: rules },
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
    },
  });
  await send('POST', `${registration}/mutatingadmissionpolicybindings`, {
    metadata: { name: 'm' },
    spec: { policyName: 'm' },
  });
  const other = { other: template('other') };
  await expect(write(other)).rejects.toThrow(/403.*with changes/);
  expect(said(await write({}))).toEqual(said(before));
  expect(said(await write({ template: template('better'), ...other }))).toEqual({
    patch: [{ op: 'add', path: '/metadata/labels/added', value: 'other' }],
    path: ['spec', 'other'],
  });
});

test('what was there before its rule led there is asked about before what was refused elsewhere comes', async () => {
  const before = await refusedWhereItsRuleLed({ other: template('bad') });
  const kept = { refused: expect.stringContaining('.spec.other'), path: ['spec', 'template'] };
  const patch = said(before).patch.map((one: object) => ({ ...one, value: 'good' }));
  expect(said(await write({ template: template('better') }))).toMatchObject({ ...kept, patch });
  expect(said(await write({ template: template('good') }))).toMatchObject({ ...kept, patch: [] });
  await expect(write({ template: null })).rejects.toThrow(/403.*no bad images/);
  expect(said(await write({ other: template('other') }))).toEqual({});
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
