import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, startApi } from './api.ts';

let api: Api;
beforeEach(() => {
  api = startApi();
});
afterEach(() => api.close());

const core = '/api/v1/namespaces/default/events';
const grouped = '/apis/events.k8s.io/v1/namespaces/default/events';
const merge = { 'content-type': 'application/merge-patch+json' };

const event = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'a' },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'x' },
  reason: 'Started',
  message: 'it runs',
  type: 'Normal',
};

test('an Event without a reporting controller has none in either group', async () => {
  const { body } = await api.call('POST', core, event);
  expect(body).toMatchObject({ reportingComponent: '', reportingInstance: '' });
  const shown = (await api.call('GET', `${grouped}/a`)).body;
  expect(shown).toMatchObject({ apiVersion: 'events.k8s.io/v1', note: 'it runs' });
  expect(Object.keys(shown).filter((name) => name.startsWith('reporting'))).toEqual([]);
});

test('who wrote an Event by its other group owns nothing of it once this one is written by', async () => {
  await api.call('POST', core, event);
  const patch = { metadata: { labels: { a: 'b' } } };
  const { body } = await api.call('PATCH', `${grouped}/a?fieldManager=two`, patch, merge);
  const owners = body.metadata.managedFields.map((one: { manager: string }) => one.manager);
  expect(owners).toEqual(['two']);
});
