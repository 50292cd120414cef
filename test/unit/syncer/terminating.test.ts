import { expect, test } from 'vitest';
import type { Engine } from '../../../syncer/engine.ts';
import type { TargetPlace } from '../../../syncer/target.ts';
import { beingDeleted } from '../../../syncer/terminating.ts';

const pod = (name: string, phase: string, claimName: string) => ({
  metadata: { name },
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
  status: { phase },
});
const items = [
  pod('once-b', 'Failed', 'data'),
  pod('once-a', 'Succeeded', 'data'),
  pod('other', 'Succeeded', 'another'),
  pod('web', 'Running', 'data'),
];
const engine = { client: { list: async () => ({ items }) } } as unknown as Engine;
const blind = { client: { list: () => Promise.reject(new Error('pods is forbidden')) } } as unknown as Engine;
const placeOf = (resource: string, name: string) =>
  ({ kind: { group: '', version: 'v1', resource }, namespace: 'shop', name }) as TargetPlace;

test.each([
  [
    'a claim, by which pods that have ended it is kept',
    engine,
    'persistentvolumeclaims',
    'data',
    'once-a, once-b',
  ],
  ['a claim that none has used, nothing more', engine, 'persistentvolumeclaims', 'unused', undefined],
  ['a claim where pods cannot be read, nothing more', blind, 'persistentvolumeclaims', 'data', undefined],
  ['what is no claim, nothing more', engine, 'configmaps', 'data', undefined],
])('of what is being deleted where it is wanted is told, of %s', async (_, at, resource, name, expected) => {
  const { why, retryAfter } = await beingDeleted(at, placeOf(resource, name));
  const said = `${resource} shop/${name} is being deleted there, and is made anew when it has gone`;
  const more = expected ? `; pods that have ended keep it until they are deleted: ${expected}` : '';
  expect(why).toEqual({ reason: 'Terminating', message: `${said}${more}` });
  expect(retryAfter).toBe(expected ? 5_000 : 500);
});
