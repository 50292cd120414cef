import { expect, test } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { validateUpdate } from '../../../../kube/validation/index.ts';
import { causesOf } from './refused.ts';

const spec = {
  group: 'sea.example',
  version: 'v1',
  groupPriorityMinimum: 100,
  versionPriority: 10,
  service: { name: 'a', namespace: 'b', port: 443 },
};

function apiService(metadata: object): KubeObject {
  return { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata, spec } as KubeObject;
}

const rule = 'must be `spec.version+"."+spec.group`: "v1.sea.example"';

test.each([
  [{ name: 'v1.sea.example' }, []],
  [{ name: 'other' }, [`metadata.name: Invalid value: "other": ${rule}`]],
  [
    { name: 'v1.sea.example', generateName: 'Bad_' },
    [`metadata.generateName: Invalid value: "Bad_": ${rule}`],
  ],
  [{ name: 'a/b' }, [`metadata.name: Invalid value: "a/b": may not contain '/'`]],
])('an APIService called %j', (metadata, causes) => {
  expect(causesOf(apiService(metadata))).toEqual(causes);
});

test('the generateName of a ReplicationController is not looked at', () => {
  const labels = { a: 'b' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const controller = {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    spec: { selector: labels, template },
    metadata: { name: 'r', namespace: 'n', generateName: 'Bad_' },
  } as KubeObject;
  expect(causesOf(controller)).toEqual([]);
  const named = { ...controller, metadata: { name: 'Bad_', namespace: 'n' } };
  expect(causesOf(named)[0]).toMatch(/^metadata.name: Invalid value: "Bad_"/);
});

test.each([
  [undefined, 'Active', undefined],
  [undefined, 'Odd', 'Invalid value: "Odd": may only be \'Active\' if `deletionTimestamp` is empty'],
  [
    '2020-01-01T00:00:00Z',
    'Active',
    'Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
  ],
  ['2020-01-01T00:00:00Z', 'Terminating', undefined],
])('a Namespace deleted at %s says that it is %s', (deletionTimestamp, phase, message) => {
  const metadata = {
    name: 'n',
    uid: 'u',
    resourceVersion: '1',
    ...(deletionTimestamp && { deletionTimestamp }),
  };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata, status: { phase } } as KubeObject;
  const info = { group: '', version: 'v1', kind: 'Namespace', resource: 'namespaces', namespaced: false };
  const causes = validateUpdate(namespace, namespace, info, 'status');
  expect(causes.map((cause) => cause.message)).toEqual(message === undefined ? [] : [message]);
});
