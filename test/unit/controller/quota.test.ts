import { expect, test } from 'vitest';
import { decideStatus, type Quota } from '../../../controller/quota/decide.ts';
import { readList } from '../../../kube/quota/list.ts';

const quota = (hard: Record<string, string>, status?: Quota['status']): Quota => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q' },
  spec: { hard },
  ...(status && { status }),
});
const two = { pods: '2' };

test.each<
  [string, Quota, Record<string, string>, Record<string, string> | undefined, ReturnType<typeof decideStatus>]
>([
  ['new', quota(two), { pods: '1' }, undefined, { status: { hard: two, used: { pods: '1' } }, waits: false }],
  [
    'as it is',
    quota(two, { hard: two, used: { pods: '1' } }),
    { pods: '1' },
    {},
    { status: undefined, waits: false },
  ],
  [
    'in another form',
    quota({ cpu: '1' }, { hard: { cpu: '1000m' }, used: { cpu: '500m' } }),
    { cpu: '0.5' },
    {},
    { status: undefined, waits: false },
  ],
  [
    'more',
    quota(two, { hard: two, used: { pods: '1' } }),
    { pods: '3' },
    undefined,
    { status: { hard: two, used: { pods: '3' } }, waits: false },
  ],
  [
    'less, of which some is perhaps on its way',
    quota(two, { hard: two, used: { pods: '2' } }),
    { pods: '1' },
    undefined,
    { status: undefined, waits: true },
  ],
  [
    'less',
    quota(two, { hard: two, used: { pods: '2' } }),
    { pods: '1' },
    {},
    { status: { hard: two, used: { pods: '1' } }, waits: false },
  ],
  [
    'less, of which one is on its way',
    quota(two, { hard: two, used: { pods: '5' } }),
    { pods: '1' },
    { pods: '1', cpu: '1' },
    { status: { hard: two, used: { pods: '2' } }, waits: true },
  ],
  [
    'less, of which all may be on its way',
    quota(two, { hard: two, used: { pods: '2' } }),
    { pods: '1' },
    { pods: '3' },
    { status: undefined, waits: true },
  ],
  ['what nobody counts', quota({ some: '1' }), {}, {}, { status: { hard: { some: '1' } }, waits: false }],
  [
    'what nobody counts, told',
    quota({ some: '1' }, { hard: { some: '1' } }),
    {},
    {},
    { status: undefined, waits: false },
  ],
  [
    'what is no longer bounded',
    quota(two, { hard: { ...two, cpu: '1' }, used: { pods: '1', cpu: '1' } }),
    { pods: '1' },
    undefined,
    { status: { hard: two, used: { pods: '1' } }, waits: false },
  ],
  ['nothing', quota({}), {}, {}, { status: undefined, waits: false }],
  ['nothing any more', quota({}, { hard: two, used: { pods: '1' } }), {}, {}, { status: {}, waits: false }],
])('%s', (_what, given, counted, open, expected) => {
  expect(decideStatus(given, readList(counted), open && readList(open))).toEqual(expected);
});
