import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { silentLogger as logger } from '../../../kube/log.ts';
import { notFound, StatusError } from '../../../kube/status.ts';
import type { Engine } from '../../../syncer/engine.ts';
import { eventReflector, prospectOf } from '../../../syncer/events.ts';
import { Unreadable } from '../../../syncer/unreadable.ts';

const physical = 'shop-01234567';
const key = `${physical}/web-1`;
const pods = { group: '', resource: 'pods' };

let life: AbortController;
/** What of the pod stands where. */
let pod: 'shown' | 'there' | 'gone';
/** The targets of which the cluster has a share in the namespace. */
let placed: string[];

beforeEach(() => {
  vi.useFakeTimers();
  life = new AbortController();
  [pod, placed] = ['gone', [`deployments.apps/${physical}/api`]];
});
afterEach(() => {
  life.abort();
  vi.useRealTimers();
});

const shares = {
  byIndex: () => [],
  hasIndexed: (index: string, value: string) =>
    placed.some((target) => (index === 'target' ? target === value : target.includes(`/${value}/`))),
} as unknown as Engine['shares'];

const among = [
  {
    resource: 'pods',
    uidOf: (of: string) => (of === key && pod === 'shown' ? 'uid-here' : undefined),
    mayHave: (of: string) => of === key && pod !== 'gone',
  },
];

const event = (kind: string, name: string, apiVersion = 'v1') => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'told', namespace: physical, uid: 'of-told', resourceVersion: '1' },
  involvedObject: { apiVersion, kind, name, namespace: physical, uid: 'there' },
  reason: 'Killing',
  lastTimestamp: new Date().toISOString(),
});

test.each([
  ['a pod that is shown', 'Pod', 'web-1', 'v1', 'shown', 'now'],
  ['a pod that is there and not shown', 'Pod', 'web-1', 'v1', 'there', 'later'],
  ['a pod that is not there', 'Pod', 'web-1', 'v1', 'gone', 'soon'],
  ['a workload that has a share', 'Deployment', 'api', 'apps/v1', 'gone', 'now'],
  ['a workload that has left', 'Deployment', 'web', 'apps/v1', 'gone', 'soon'],
  ['a kind of another group', 'Pod', 'web-1', 'metrics.k8s.io/v1beta1', 'shown', 'never'],
  ['a kind that is nowhere placed', 'Node', 'n1', 'v1', 'gone', 'never'],
] as const)('an event about %s', (_what, kind, name, apiVersion, now, prospect) => {
  pod = now;
  expect(prospectOf({ shares }, among, event(kind, name, apiVersion))).toBe(prospect);
});

test('an event is for nobody where the cluster has no share in its namespace', () => {
  [pod, placed] = ['shown', [`deployments.apps/other-01234567/api`]];
  expect(prospectOf({ shares }, among, event('Pod', 'web-1'))).toBe('never');
});

test.each([
  ['its own object', 'Rollout', 'web', 'argoproj.io/v1alpha1', 'now'],
  ['its own object, in another version', 'Rollout', 'web', 'argoproj.io/v1', 'now'],
  ['another object of the kind', 'Rollout', 'api', 'argoproj.io/v1alpha1', 'soon'],
  ['another kind', 'Experiment', 'web', 'argoproj.io/v1alpha1', 'never'],
  ['a kind of another group', 'Rollout', 'web', 'example.com/v1', 'never'],
] as const)(
  'where a kind is placed by a rule, an event about %s',
  (_what, kind, name, apiVersion, prospect) => {
    const ref = { group: 'argoproj.io', kind: 'Rollout', name: 'web', rule: {} };
    const ruled = {
      byIndex: (index: string) => (index === 'namespace' ? [{ spec: { ref } }] : []),
    } as unknown as Engine['shares'];
    expect(prospectOf({ shares: ruled }, among, event(kind, name, apiVersion))).toBe(prospect);
  },
);

/** How often an event about the pod is put within an hour. */
async function putsOf(answer: () => Promise<unknown>, before: () => void = () => {}): Promise<number> {
  const read = { metadata: { resourceVersion: '1' }, items: [event('Pod', 'web-1')] };
  const client = { list: async () => read, watchSome: () => new Promise(() => {}), json: async () => ({}) };
  const update = vi.fn(answer);
  const locator = { cluster: 'root:team', namespace: 'shop', uid: 'uid-of-shop' };
  const engine = {
    name: 'east',
    client: client as unknown as Client,
    upstream: { list: async () => ({ items: [] }), update } as unknown as Client,
    shares,
    unreadable: new Unreadable(() => {}),
    namespaces: { of: () => [physical], own: () => ({ locator }) },
    signal: life.signal,
    logger,
  };
  const reflector = eventReflector(engine as unknown as Engine, among);
  reflector.informer.wake();
  reflector.run([Promise.resolve()]).catch(() => {});
  await vi.advanceTimersByTimeAsync(20_000);
  before();
  await vi.advanceTimersByTimeAsync(3_600_000);
  return update.mock.calls.length;
}

const taken = async () => ({ metadata: { uid: 'of-told-here' } });
const terminating = new StatusError(403, 'Forbidden', 'it is being terminated', {
  causes: [{ reason: 'NamespaceTerminating' }],
});

test('a late event about a pod that is gone there is not sent', async () => {
  expect(await putsOf(taken)).toBe(0);
});

test('one whose pod is seen, and then shown, is sent once it is', async () => {
  const comes = () => {
    pod = 'shown';
  };
  expect(await putsOf(taken, comes)).toBe(1);
});

test.each([
  ['whose Namespace is gone', notFound({ group: '', resource: 'namespaces' }, 'shop')],
  ['whose Namespace is going', terminating],
])('one %s is sent once, and no more when that is said', async (_what, error) => {
  pod = 'shown';
  expect(await putsOf(() => Promise.reject(error))).toBe(1);
});

test('one that is refused while its pod is shown is sent again, until that has gone', async () => {
  pod = 'shown';
  let refusals = 0;
  const refuse = async () => {
    refusals++;
    throw notFound(pods, 'web-1');
  };
  const until = await putsOf(refuse, () => {
    pod = 'gone';
  });
  expect(until).toBe(refusals);
  expect(until).toBeGreaterThan(3);
  expect(until).toBeLessThan(12);
});
