import { expect, test } from 'vitest';
import { type Dependents, decide, type Item, type OwnerState } from '../../../controller/gc/decide.ts';

const nobody: Dependents = { any: false, blocking: false, waiting: false };
const item = (states: OwnerState[], more: Partial<Item> = {}): Item => ({
  deleting: false,
  finalizers: [],
  owners: states.map((state) => ({ apiVersion: 'v1', kind: 'K', name: state, uid: state })),
  ...more,
});

test.each<[string, Item, Partial<Dependents>, object]>([
  ['no owners', item([]), {}, { do: 'nothing' }],
  ['an owner is there', item(['present']), {}, { do: 'nothing' }],
  ['all gone', item(['gone', 'gone']), {}, { do: 'delete', policy: 'Background', unblock: false }],
  ['one of two gone', item(['present', 'gone']), {}, { do: 'dropOwners', uids: ['gone'] }],
  ['one of two waits', item(['present', 'waiting']), {}, { do: 'dropOwners', uids: ['waiting'] }],
  [
    'owner waits, no dependents',
    item(['waiting']),
    {},
    { do: 'delete', policy: 'Background', unblock: false },
  ],
  [
    'owner waits, dependents',
    item(['waiting']),
    { any: true },
    { do: 'delete', policy: 'Foreground', unblock: false },
  ],
  [
    'a circle',
    item(['waiting']),
    { any: true, waiting: true },
    { do: 'delete', policy: 'Foreground', unblock: true },
  ],
  [
    'its dependents shall stay',
    item(['gone'], { finalizers: ['orphan'] }),
    { any: true },
    { do: 'delete', policy: 'Orphan', unblock: false },
  ],
  ['being deleted already', item(['gone'], { deleting: true, finalizers: ['x'] }), {}, { do: 'nothing' }],
  [
    'foreground, held up',
    item([], { deleting: true, finalizers: ['foregroundDeletion'] }),
    { any: true, blocking: true },
    { do: 'deleteDependents' },
  ],
  [
    'foreground, dependents that hold up nothing',
    item([], { deleting: true, finalizers: ['foregroundDeletion'] }),
    { any: true },
    { do: 'dropFinalizer' },
  ],
  [
    'orphaning',
    item([], { deleting: true, finalizers: ['orphan'] }),
    { any: true, blocking: true },
    { do: 'orphanDependents' },
  ],
])('%s', (_name, of, dependents, expected) => {
  const step = decide(of, { ...nobody, ...dependents }, ({ uid }) => uid as OwnerState);
  expect(step).toEqual(expected);
});
