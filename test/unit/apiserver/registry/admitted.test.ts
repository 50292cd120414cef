import { describe, expect, test } from 'vitest';
import { dedupOwners, namesRevision, settleAdmitted } from '../../../../apiserver/registry/admitted.ts';
import type { KubeObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../../../../kube/object.ts';

const owner = (name: string, uid: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid,
  ...more,
});

const made = (metadata: ObjectMeta): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });

const entry: ManagedFieldsEntry = {
  manager: 'kubectl',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': {} },
};

describe('owners that are named twice', () => {
  const twice: readonly [string, OwnerReference[], OwnerReference[], string][] = [
    ['alike', [owner('a', '1'), owner('b', '2'), owner('a', '1')], [owner('a', '1'), owner('b', '2')], '1'],
    [
      'of which one controls',
      [owner('a', '1', { controller: true }), owner('a', '1', { controller: true })],
      [owner('a', '1', { controller: true })],
      '1',
    ],
    [
      'several times',
      [owner('a', '1'), owner('a', '1'), owner('a', '1'), owner('b', '2'), owner('b', '2')],
      [owner('a', '1'), owner('b', '2')],
      '1, 1, 2',
    ],
  ];
  test.each(twice)('%s count once', (_, ownerReferences, kept, uids) => {
    const object = made({ name: 'x', ownerReferences });
    const said: string[] = [];
    dedupOwners(object, (message) => said.push(message));
    expect(object.metadata.ownerReferences).toEqual(kept);
    expect(said).toEqual([
      `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`,
    ]);
  });

  test('but not those that differ', () => {
    const ownerReferences = [owner('a', '1'), owner('b', '1'), owner('a', '1', { controller: false })];
    const object = made({ name: 'x', ownerReferences });
    dedupOwners(object, () => expect.unreachable('nothing to warn of'));
    expect(object.metadata.ownerReferences).toEqual(ownerReferences);
  });

  test('of very many in no time', () => {
    const ownerReferences = Array.from({ length: 30_000 }, (_, i) => owner(`a${i}`, '1'));
    const object = made({ name: 'x', ownerReferences });
    const began = process.cpuUsage();
    dedupOwners(object, undefined);
    expect(object.metadata.ownerReferences).toHaveLength(30_000);
    expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
  });
});

test.each<[string | undefined, boolean]>([
  ['5', true],
  ['18446744073709551615', true],
  ['18446744073709551616', false],
  ['0', false],
  ['00', false],
  ['x', false],
  ['+5', false],
  [' 5', false],
  ['', false],
  [undefined, false],
])('the resourceVersion %j of what is to be created: %s', (text, is) => expect(namesRevision(text)).toBe(is));

describe('what admission leaves of the metadata', () => {
  const settled = (metadata: object) => {
    const object = made({ name: 'x', ...metadata });
    const said: string[] = [];
    settleAdmitted(object, { namespace: 'default', managers: [entry] }, (message) => said.push(message));
    return { metadata: object.metadata, said };
  };

  test.each([
    ['operation', { manager: 'x' }, 'operation must be `Apply` or `Update`'],
    ['version', { ...entry, apiVersion: '' }, 'apiVersion must not be empty'],
    ['type', { ...entry, fieldsType: 'F' }, 'invalid fieldsType "F" in managed fields entry 0'],
  ])('managers without a good %s are those of before', (_, broken, why) => {
    const { metadata, said } = settled({ managedFields: [broken] });
    expect(metadata.managedFields).toEqual([entry]);
    expect(said).toEqual([
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${why}`,
    ]);
  });

  test('managers that are good, or none, are its to say', () => {
    const other = { ...entry, manager: 'other' };
    expect(settled({ managedFields: [other] }).metadata.managedFields).toEqual([other]);
    expect(settled({}).metadata.managedFields).toBeUndefined();
  });

  test('a selfLink is dropped, the namespace stays, and another is refused', () => {
    expect(settled({ selfLink: '/x' }).metadata).toEqual({ name: 'x', namespace: 'default' });
    expect(() => settled({ namespace: 'other' })).toThrow('does not match the namespace sent on the request');
  });
});
