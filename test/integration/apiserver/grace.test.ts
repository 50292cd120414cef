import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Api, startApi } from './api.ts';

const pods = '/api/v1/namespaces/default/pods';
let api: Api;
beforeEach(async () => {
  api = startApi();
  const spec = { nodeName: 'n', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }] };
  const pod = { metadata: { name: 'p', finalizers: ['example.com/keep'] }, spec };
  expect((await api.call('POST', pods, pod)).status).toBe(201);
});
afterEach(() => api.close());

interface Ending {
  deletionGracePeriodSeconds: number;
  deletionTimestamp: string;
}

async function deleted(gracePeriodSeconds?: number): Promise<Ending> {
  const { status, body } = await api.call('DELETE', `${pods}/p`, {
    kind: 'DeleteOptions',
    gracePeriodSeconds,
  });
  expect([status, body.message]).toEqual([200, undefined]);
  return body.metadata;
}

test.each<[string, (number | undefined)[], number]>([
  ['its own, where nobody says', [undefined], 30],
  ['a second, of less than none', [-500], 1],
  ['what was given, though a later deletion does not say', [3600, undefined], 3600],
  ['what was given, though a later deletion says more', [10, 3600], 10],
  ['less, where a later deletion says so', [3600, 10], 10],
  ['a second, where a later deletion says less than none', [3600, -1], 1],
  ['more than there are times', [Number.MAX_SAFE_INTEGER], Number.MAX_SAFE_INTEGER],
  ['less, where there were no such times before', [Number.MAX_SAFE_INTEGER, 10], 10],
])('a pod is given %s: %j', async (_, asked, seconds) => {
  let last: Ending | undefined;
  for (const one of asked) last = await deleted(one);
  expect(last?.deletionGracePeriodSeconds).toBe(seconds);
});

test('a period that is made shorter counts from the first deletion', async () => {
  const ends = ({ deletionTimestamp }: Ending) => Date.parse(deletionTimestamp) / 1000;
  expect(ends(await deleted(1000)) - ends(await deleted(100))).toBe(900);
});

test.each([
  ['9223372036854775807', 200, Number.MAX_SAFE_INTEGER],
  ['-9223372036854775808', 200, 1],
  ['9223372036854775808', 400, undefined],
])(
  'a period that is no number here, but an int64, is taken as far as it goes: %s',
  async (seconds, code, given) => {
    const asked = await api.call('DELETE', `${pods}/p?gracePeriodSeconds=${seconds}`);
    expect([asked.status, asked.body.metadata?.deletionGracePeriodSeconds]).toEqual([code, given]);
    const said = await api.call('DELETE', `${pods}/p`, `{"gracePeriodSeconds":${seconds}}`);
    expect([said.status, said.body.metadata?.deletionGracePeriodSeconds]).toEqual([code, given]);
  },
);
