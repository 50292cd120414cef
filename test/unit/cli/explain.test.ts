import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../cli/errors.ts';
import { parseNamed } from '../../../cli/explain/kinds.ts';
import { podSelectorOf, troublesOn } from '../../../cli/explain/pods.ts';
import { givenUpOf } from '../../../cli/explain/read.ts';
import { storyOf, storyText } from '../../../cli/explain/story.ts';
import type { Told } from '../../../cli/explain/told.ts';
import { Client } from '../../../client/client.ts';
import { kindNamed, type PlacedKindName } from '../../../cluster/kinds.ts';
import { reflectedAs } from '../../../cluster/reflected.ts';
import type { PhysicalCluster, Placement } from '../../../cluster/types.ts';
import type { Transport } from '../../../kube/http.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import { objection } from '../../../scheduler/filter.ts';

const kind = (name: PlacedKindName) => {
  const found = kindNamed(name);
  if (!found) throw new Error(name);
  return found;
};

const annotations = { 'atoll.dev/clusters': 'west', 'atoll.dev/placed-by': 'ann' };
const web = (metadata: object = { annotations }): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', ...metadata },
  spec: { replicas: 3, selector: { matchLabels: { app: 'web' } } },
});

const placed = (spec: object, status: object = {}): Placement =>
  ({
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'web.deployments.apps', namespace: 'shop' },
    spec: {
      ref: {
        group: 'apps',
        version: 'v1',
        resource: 'deployments',
        kind: 'Deployment',
        name: 'web',
        uid: 'u',
      },
      ...spec,
    },
    status,
  }) as unknown as Placement;

const told = (more: Partial<Told>): Told => ({
  kind: kind('Deployment'),
  logicalCluster: 'root:team-a',
  object: web(),
  namespace: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  placement: 'absent',
  users: [],
  pods: [],
  events: [],
  givenUp: [],
  unread: 0,
  copies: [],
  claims: [],
  inUse: new Map(),
  ...more,
});

const pod = (name: string, cluster: string, status: object, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, uid: name, annotations: reflectedAs({}, name, [cluster]), ...more },
  status,
});
const waiting = (reason: string, message?: string) => ({
  phase: 'Pending',
  containerStatuses: [{ name: 'c', state: { waiting: { reason, ...(message && { message }) } } }],
});

const moving = placed(
  {
    clusters: ['west'],
    wanted: ['west'],
    reasons: { west: 'named by its annotation' },
    shares: { east: { phase: 'Active', replicas: 3 }, west: { phase: 'Joining', replicas: 3 } },
  },
  {
    clusters: {
      east: { present: true, status: { readyReplicas: 3 } },
      west: { present: true, status: { readyReplicas: 1 } },
    },
    conditions: [
      { type: 'Placed', status: 'True', reason: 'Placed', message: 'placed on west' },
      {
        type: 'Settled',
        status: 'False',
        reason: 'Joining',
        message: 'waiting for west; until then it stays on east',
      },
    ],
  },
);

test('a move that waits for an image is told from who asked to what can be done', () => {
  const pods = [
    pod('web-1', 'west', waiting('ImagePullBackOff', 'Back-off pulling image "x"')),
    pod('web-2', 'east', { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }),
  ];
  expect(storyText(storyOf(told({ placement: moving, pods }))).split('\n')).toEqual([
    'root:team-a/shop/deployments.apps/web is moving from east to west',
    '',
    'Who asked:',
    '  its annotation: west (written by ann)',
    '',
    'Where it is to be:',
    '  west: named by its annotation',
    '',
    'Where it is:',
    '  east: there, and counted on; 3/3 ready',
    '  west: joining, not counted on yet; 1/3 ready',
    '    pod web-1: container c: ImagePullBackOff: Back-off pulling image "x"',
    '',
    'What it waits for:',
    '  waiting for west; until then it stays on east',
    '',
    'What you can do:',
    '  see why pods are not ready: kubectl -n shop describe pods',
    '  keep it on east: kubectl -n shop annotate deployments.apps/web --overwrite atoll.dev/clusters=east',
  ]);
});

test('pods that a cluster refuses to make are told with its reason, since none of them can say it', () => {
  const message = 'pods "web-1" is forbidden: violates PodSecurity "restricted:latest"';
  const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
  const of = (condition: object) => {
    const west = { present: true, status: { unavailableReplicas: 3, conditions: [condition] } };
    const placement = placed({ ...moving.spec }, { ...moving.status, clusters: { west } });
    return section({ placement }, 'Where it is')?.slice(1);
  };
  const joining = 'west: joining, not counted on yet; 0/3 ready';
  expect(of(failure)).toEqual([joining, `  pods are refused there: FailedCreate: ${message}`]);
  expect(of({ ...failure, status: 'False' })).toEqual([joining]);
});

test.each([
  [
    'is not ours',
    [
      'if what is on west may go, have its administrator delete it there: kubectl -n root-shop-1 delete deployments.apps web',
    ],
  ],
  ['was left behind: register the cluster with --adopt', []],
])('what to do about an object that %s', (how, advice) => {
  const message = `deployments root-shop-1/web exists on the cluster and ${how}`;
  const west = { present: false, error: { reason: 'NotOwned', message } };
  const placement = placed(
    { ...moving.spec, physicalNamespace: 'root-shop-1' },
    { ...moving.status, clusters: { west } },
  );
  expect(section({ placement }, 'What you can do')?.slice(0, -1)).toEqual(advice);
});

test('a workload that waits for its turn is told whose cluster it leaves then', () => {
  const placement = placed(
    { clusters: ['east'], waits: ['east'], shares: { east: { phase: 'Active', replicas: 3 } } },
    { conditions: [{ type: 'Settled', status: 'True', reason: 'Settled', message: '' }] },
  );
  expect(storyOf(told({ placement })).headline).toBe('is on east, and leaves east when it is its turn');
  expect(section({ placement }, 'What it waits for')).toEqual([
    'its turn to leave east: others leave it now',
  ]);
});

describe('of a cluster that is not heard of', () => {
  const words = 'cluster west has not answered since 2030-01-01T00:00:00Z';
  const heard = { type: 'ClustersHeard', status: 'False', reason: 'ClusterSilent', message: words };
  const active = { phase: 'Active', replicas: 3 };
  const counted = { present: true, status: { readyReplicas: 3 } };
  const conditions = [{ type: 'Settled', status: 'True', reason: 'Settled', message: 'x' }];
  const status = { clusters: { east: counted, west: counted }, conditions };
  const spec = { clusters: ['east', 'west'], shares: { east: active, west: active } };
  const lost = {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'False', reason: 'NodeStatusUnknown', message: words }],
    reason: 'Unknown',
    message: words,
  };
  const object = { ...web(), status: { conditions: [heard] } };

  test.each<[string, Partial<Told>]>([
    ['its own condition', { object, placement: placed(spec, status) }],
    ['that of its Placement', { placement: placed(spec, { ...status, conditions: [...conditions, heard] }) }],
  ])('is told since when, by %s; and so is what its pods were', (_what, more) => {
    const all = { ...more, pods: [pod('web-1', 'west', lost)] };
    const since = 'has not answered since 2030-01-01T00:00:00Z';
    expect(storyOf(told(all)).headline).toBe(`is on east and west; its cluster west ${since}`);
    expect(section(all, 'Where it is')).toEqual([
      'east: there, and counted on; 3/3 ready',
      `west: there, and counted on; 3/3 ready; this is what was heard last: it ${since}`,
      `  pod web-1: Unknown: ${words}`,
    ]);
    expect(section(all, 'What it waits for')).toEqual([`its cluster west ${since}`]);
  });
});

describe('in a sentence', () => {
  const active = { phase: 'Active', replicas: 1 };
  const settled = [{ type: 'Settled', status: 'True', reason: 'Settled', message: '' }];
  const job = { group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job', name: 'web', uid: 'u' };
  const done = { phase: 'Active', completions: 1, parallelism: 1 };
  const made = {
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'x', controller: true }],
  };
  test.each<[string, Partial<Told>]>([
    [
      'is on a and b, as it should be',
      {
        placement: placed(
          { clusters: ['a', 'b'], shares: { a: active, b: active } },
          { conditions: settled },
        ),
      },
    ],
    [
      'is on a and b',
      {
        placement: placed(
          { clusters: ['a', 'b'], shares: { a: active, b: active } },
          {
            conditions: [
              ...settled,
              {
                type: 'Placed',
                status: 'False',
                reason: 'SpreadUnsatisfied',
                message: 'zone z has no cluster',
              },
            ],
          },
        ),
      },
    ],
    [
      'runs nowhere: no cluster takes it',
      { placement: placed({ clusters: [], blocked: true, reasons: { a: 'x' } }) },
    ],
    [
      'is on a, and cannot get where it ought to be',
      { placement: placed({ clusters: ['a'], blocked: true, shares: { a: active } }) },
    ],
    [
      'is on a, and 2 of its 3 pods have room nowhere',
      {
        placement: placed({
          clusters: ['a'],
          blocked: true,
          noRoom: { pods: 2, of: 3, on: ['a'] },
          shares: { a: active },
        }),
      },
    ],
    [
      'is on a, and 2 of its 3 pods have room nowhere',
      {
        placement: placed({
          clusters: ['a'],
          blocked: true,
          unplaced: { pods: 2, of: 3 },
          shares: { a: active },
        }),
      },
    ],
    ['is leaving a, and is to be nowhere', { placement: placed({ clusters: [], shares: { a: active } }) }],
    [
      'is on a, as it should be',
      { placement: placed({ ref: job, clusters: ['a', 'b'], shares: { a: done } }, { conditions: settled }) },
    ],
    [
      'is on its way to a',
      { placement: placed({ ref: job, clusters: ['a', 'b'], shares: { a: { phase: 'Joining' } } }) },
    ],
    [
      'is moving from a to b',
      { placement: placed({ ref: job, clusters: ['b'], shares: { a: { phase: 'Active' } } }) },
    ],
    ['is on its way to b', { placement: placed({ clusters: ['a', 'b'], shares: { a: active } }) }],
    ['is on its way to a', { placement: placed({ clusters: ['a'], shares: {} }) }],
    ['has not been looked at by the scheduler yet', {}],
    ['is nowhere: no workload that is placed needs it', { kind: kind('ConfigMap') }],
    ['is placed nowhere: nothing in kube-system is', { object: web({ namespace: 'kube-system' }) }],
    [
      'is placed nowhere: Deployment web makes its own wherever that is',
      { kind: kind('ReplicaSet'), object: { ...web(made), kind: 'ReplicaSet' } },
    ],
    [
      'is a copy of what east made: it is not placed itself',
      { kind: kind('Pod'), object: pod('p', 'east', {}) },
    ],
    [
      'is to be on east: more is said by its Placement, which you may not read',
      {
        placement: 'forbidden',
        object: web({
          annotations: { 'atoll.dev/clusters': 'east', 'atoll.dev/placed-by': 'system:atoll:scheduler' },
        }),
      },
    ],
  ])('%s', (headline, more) => {
    expect(storyOf(told(more)).headline).toBe(headline);
  });
});

const section = (more: Partial<Told>, title: string) =>
  storyOf(told(more)).sections.find((one) => one.title === title)?.lines;

describe('who asked', () => {
  const of = (more: Partial<Told>) => section(more, 'Who asked');
  const home = (clusters: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'shop', annotations: { 'atoll.dev/clusters': clusters, 'atoll.dev/placed-by': 'bob' } },
  });

  test('layers that count, the most specific first; what names clusters ends them', () => {
    expect(of({ namespace: home('east') })).toEqual(['its annotation: west (written by ann)']);
    const object = web({ annotations: { 'atoll.dev/clusters': '!trial' } });
    expect(of({ object, namespace: home('east') })).toEqual([
      'its annotation: not trial',
      "its Namespace's annotation: east (written by bob)",
    ]);
    const scheduled = {
      'atoll.dev/clusters': 'east',
      'atoll.dev/placed-by': 'system:atoll:scheduler',
      'atoll.dev/spread': 'region us=3,eu=2',
    };
    expect(of({ object: web({ annotations: scheduled }) })).toEqual([
      'its annotation: spread over region eu=2,us=3',
    ]);
    const policies = ['PlacementPolicy front', 'ClusterPlacementPolicy not-on-trial'];
    expect(of({ object: web({}), placement: placed({ clusters: ['a'], policies }) })).toEqual(policies);
  });

  test('nobody', () => {
    const scheduler = { 'atoll.dev/clusters': 'east', 'atoll.dev/placed-by': 'system:atoll:scheduler' };
    expect(of({ object: web({ annotations: scheduler }) })?.[0]).toMatch(/^nobody: it is where the rest/);
    expect(of({ kind: kind('Secret'), object: web({}) })).toEqual([
      'nobody: it goes where a workload needs it',
    ]);
    expect(of({ kind: kind('Secret'), object: web({}), users: ['deployments.apps/web'] })).toEqual([
      'it goes along with deployments.apps/web',
    ]);
  });

  test('a Namespace that may not be read may say more, unless the object names clusters', () => {
    expect(of({ object: web({}), namespace: undefined })).toEqual([
      'its Namespace may say more: you may not read it',
    ]);
    expect(of({ namespace: undefined })).toEqual(['its annotation: west (written by ann)']);
  });
});

describe('what can be done', () => {
  const cluster = (spec: object, ready = 'True'): PhysicalCluster =>
    ({
      apiVersion: 'atoll.dev/v1alpha1',
      kind: 'PhysicalCluster',
      metadata: { name: 'east' },
      spec: { kubeconfigSecretRef: { namespace: 'n', name: 'n' }, ...spec },
      status: { conditions: [{ type: 'Ready', status: ready, reason: 'X' }] },
    }) as unknown as PhysicalCluster;
  const removed = { ...cluster({}), metadata: { name: 'east', deletionTimestamp: '1970-01-01T00:00:00Z' } };
  const why = (about: PhysicalCluster | undefined, refused?: string) =>
    objection({
      name: 'east',
      cluster: about,
      refused,
      now: 0,
      isThere: false,
      need: new Map([['pods', parseQuantity('2')]]),
      used: new Map(),
    }) ?? '';

  // The scheduler's own words, so that none of them changes here unseen.
  test.each([
    [
      'cordoned',
      why(cluster({ unschedulable: true })),
      'an administrator takes east back: atoll uncordon east',
    ],
    ['drained', why(cluster({ drain: true })), 'an administrator takes east back: atoll uncordon east'],
    [
      'removed',
      why(removed),
      'an administrator gives up what is on east: atoll cluster remove east --forget',
    ],
    ['full', why(cluster({ capacity: { pods: '1' } })), /^ask for fewer or smaller pods, .*on east/],
    ['tainted', why(cluster({ taints: [{ key: 'k', effect: 'NoSchedule' }] })), /^have a policy tolerate/],
    ['not there', why(undefined), /^correct the name east/],
    [
      'unwanted',
      why(cluster({}), 'excluded by its annotation'),
      /^to have it on east, change what keeps it out/,
    ],
    ['silent', why(cluster({}, 'Unknown')), /^wait for east/],
  ])('%s', (_what, reason, advice) => {
    const placement = placed({ clusters: [], reasons: { east: reason } });
    const [first, second] = section({ placement }, 'What you can do') ?? [];
    if (typeof advice === 'string') expect(first).toBe(advice);
    else expect(first).toMatch(advice);
    expect(second).toBe('it moves by itself once that has changed: nothing need be repeated');
  });

  test('where there is no copier, who names one; and where data is on its way, how it stays', () => {
    const no =
      'its claim files on east is to be copied along, and no copier is between the two (spec.copier)';
    const blocked = { clusters: ['east'], blocked: true, reasons: { west: no } };
    expect(section({ placement: placed(blocked) }, 'What you can do')).toEqual([
      'have an administrator name one copier on both clusters: kubectl patch physicalcluster west --type merge -p \'{"spec":{"copier":"NAME"}}\'',
      'it moves by itself once that has changed: nothing need be repeated',
    ]);
    const reasons = { east: 'its claim files is copied along by x', west: 'named by its annotation' };
    const placement = placed({ ...moving.spec, reasons });
    expect(section({ placement }, 'What you can do')).toEqual([
      'keep it on east: kubectl -n shop annotate deployments.apps/web --overwrite atoll.dev/clusters=east',
    ]);
  });

  test('where there is no room, to have as many as have it; not where an autoscaler would undo it', () => {
    const full = { clusters: ['a'], blocked: true, noRoom: { pods: 2, of: 3, on: ['a'] } };
    const of = (spec: object) => section({ placement: placed(spec) }, 'What you can do');
    expect(of(full)).toEqual([
      'have as many as there is room for: kubectl -n shop scale deployments.apps/web --replicas=1',
      'have an administrator make room: more nodes, a higher spec.capacity, one more cluster',
    ]);
    expect(of({ ...full, scale: { replicas: 3 } })).toHaveLength(1);
    expect(of({ ...full, noRoom: { pods: 3, of: 3 } })).toHaveLength(1);
  });

  test('where pods of it are taken nowhere, to have fewer, and what has it taken again', () => {
    const reasons = { a: 'it takes 3 pods, 2 more than there is room for anywhere; it is cordoned' };
    const short = { clusters: ['a'], blocked: true, reasons, unplaced: { pods: 2, of: 3 } };
    expect(section({ placement: placed(short) }, 'What you can do')).toEqual([
      'have as many as there is room for: kubectl -n shop scale deployments.apps/web --replicas=1',
      'an administrator takes a back: atoll uncordon a',
      'it moves by itself once that has changed: nothing need be repeated',
    ]);
  });

  test('where there is no physical cluster, how to add one', () => {
    expect(section({ placement: placed({ clusters: [], reasons: {} }) }, 'What you can do')).toEqual([
      'have an administrator add a cluster: atoll cluster add NAME --kubeconfig FILE',
      'it moves by itself once that has changed: nothing need be repeated',
    ]);
  });

  test('nothing, where all is as it should be', () => {
    const placement = placed({
      clusters: ['a'],
      reasons: { a: 'x', b: 'it is cordoned' },
      shares: { a: { phase: 'Active' } },
    });
    expect(section({ placement }, 'What you can do')).toBeUndefined();
  });

  test('a move that a drain drives is not to be taken back by an annotation', () => {
    const { clusters, shares } = moving.spec ?? {};
    const placement = placed({ clusters, shares, reasons: { east: 'it is being drained' } });
    expect(section({ placement }, 'What you can do')).toBeUndefined();
  });

  test('an owner that nobody has checked is no part of a command', () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'A', name: '$(x)', uid: 'x', controller: true }];
    expect(section({ object: web({ ownerReferences }) }, 'What you can do')?.join()).not.toContain('$(x)');
  });

  test('of fifty refusals not fifty things', () => {
    const reasons = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`c${i}`, 'it is cordoned']));
    expect(section({ placement: placed({ clusters: [], reasons }) }, 'What you can do')).toHaveLength(6);
  });
});

describe('claims that are left', () => {
  const files = (metadata: object = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'files', namespace: 'shop', ...metadata },
  });
  const placement = placed({ clusters: ['west'], shares: { west: { phase: 'Joining', replicas: 3 } } });
  const recreate = { annotations: { 'atoll.dev/volumes': 'recreate' } };
  const along = { annotations: { ...annotations, 'atoll.dev/volumes': 'copy' } };
  const by = (metadata?: object) => [{ name: 'deployments.apps/web', object: web(metadata) }];
  const back =
    'have the data of files on east again: kubectl -n shop annotate deployments.apps/web --overwrite atoll.dev/clusters=east';
  const hold =
    'keep the data of files on east: kubectl -n shop annotate persistentvolumeclaims/files --overwrite atoll.dev/volumes=hold';
  const goes = 'let that data go: nothing is to be done for it';

  test.each<[string, Partial<Told>, string, string[]]>([
    [
      'by a workload that names another cluster',
      { givenUp: [{ claim: files(), cluster: 'east', by: by() }] },
      'east: the data of its claim files is there, given up by deployments.apps/web; it is deleted once all that uses the claim is ready elsewhere',
      [back, hold, goes],
    ],
    [
      'by one that goes without it',
      { givenUp: [{ claim: files(), cluster: 'east', by: by(recreate) }] },
      'east: the data of its claim files is there, given up by deployments.apps/web; it is deleted once all that uses the claim is ready elsewhere',
      [hold, goes],
    ],
    [
      'by one whose data comes along: going back would bring what is elsewhere over it',
      { givenUp: [{ claim: files(), cluster: 'east', by: by(along) }] },
      'east: the data of its claim files is there, and comes along with deployments.apps/web; it is deleted once it was copied to where that is ready',
      [
        'have the data of files on east again: kubectl -n shop annotate persistentvolumeclaims/files --overwrite atoll.dev/volumes=hold && kubectl -n shop annotate deployments.apps/web --overwrite atoll.dev/clusters=east',
      ],
    ],
    [
      'by one whose data nobody copies from there any more',
      { givenUp: [{ claim: files(), cluster: 'east', by: by(along), uncopied: true }] },
      'east: the data of its claim files is there, and comes along with deployments.apps/web; it is deleted once it was copied to where that is ready',
      [
        'have the data of files on east again: kubectl -n shop annotate persistentvolumeclaims/files --overwrite atoll.dev/volumes=hold && kubectl -n shop annotate deployments.apps/web --overwrite atoll.dev/clusters=east',
        'let the data of files on east go, which nobody copies from there: kubectl -n shop annotate persistentvolumeclaims/files --overwrite atoll.dev/volumes=recreate',
      ],
    ],
    [
      'by both words, as the claim itself tells it',
      {
        kind: kind('PersistentVolumeClaim'),
        object: files(recreate),
        givenUp: [{ claim: files(recreate), cluster: 'east', by: by() }],
      },
      'east: its data is there, given up by deployments.apps/web; it is deleted once all that uses the claim is ready elsewhere',
      [back, hold, goes],
    ],
    [
      'by whom may not be read',
      { givenUp: [{ claim: files(), cluster: 'east', by: [{ name: 'others' }] }] },
      'east: the data of its claim files is there, given up by others; it is deleted once all that uses the claim is ready elsewhere',
      [hold, goes],
    ],
  ])('%s', (_what, more, line, advice) => {
    expect(section({ placement, ...more }, 'Data that is left')).toEqual([line]);
    expect(section({ placement, ...more }, 'What you can do')).toEqual(advice);
  });

  const set = (metadata: object): KubeObject => ({
    ...web({ name: 'db', ...metadata }),
    kind: 'StatefulSet',
    spec: { replicas: 2, volumeClaimTemplates: [{ metadata: { name: 'data' } }] },
  });
  const shown = (name: string, cluster: string): KubeObject => ({
    ...files({ name, uid: name, annotations: reflectedAs({}, name, [cluster]) }),
  });
  const claims = [
    shown('data-db-1', 'east'),
    shown('data-db-0', 'east'),
    shown('data-db-0', 'west'),
    shown('other-0', 'east'),
  ];
  const there = placed({ clusters: ['west'], physicalNamespace: 'root--shop', shares: {} });
  const of = (metadata: object, clusters = ['west']): Partial<Told> => ({
    kind: kind('StatefulSet'),
    object: set(metadata),
    claims,
    placement: placed({ ...there.spec, clusters }),
  });

  test('of a set where it is no longer to be', () => {
    expect(section(of({}), 'Data that is left')).toEqual([
      'east: data-db-0, data-db-1 stay there with their data, whatever becomes of the set',
    ]);
    expect(section(of({}), 'What you can do')).toEqual([
      'have the data on east again: kubectl -n shop annotate statefulsets.apps/db --overwrite atoll.dev/clusters=east',
      'let it go, with the kubeconfig of east: kubectl -n root--shop delete pvc data-db-0 data-db-1',
    ]);
    expect(section(of({}, ['east', 'west']), 'Data that is left')).toBeUndefined();
    expect(section(of({}, []), 'Data that is left')).toBeUndefined();
  });

  test('of a set are not let go where others use them', () => {
    const advice = (...names: string[]) =>
      section({ ...of({}), inUse: new Map([['east', new Set(names)]]) }, 'What you can do')?.join();
    expect(advice('data-db-1')).toMatch(/delete pvc data-db-0$/);
    expect(advice('data-db-0', 'data-db-1')).not.toContain('delete pvc');
  });

  test.each<[string, object, object, boolean]>([
    ['has left', { west: { phase: 'Active' } }, { east: { present: false } }, true],
    ['is on its way from', { east: { phase: 'Active' }, west: { phase: 'Joining' } }, {}, false],
    ['is leaving', { east: { phase: 'Leaving' }, west: { phase: 'Active' } }, {}, false],
    ['is still seen on', { west: { phase: 'Active' } }, { east: { present: true } }, false],
    ['has left pods on', { west: { phase: 'Active' } }, { east: { present: false, orphans: true } }, false],
  ])('of a set are let go only on a cluster that it %s', (_what, shares, slices, isLeft) => {
    const placement = placed({ ...there.spec, shares }, { clusters: slices });
    expect(section({ ...of({}), placement }, 'Data that is left') !== undefined).toBe(isLeft);
    const advice = section({ ...of({}), placement }, 'What you can do')?.join() ?? '';
    expect(advice.includes('delete pvc data-db-0 data-db-1')).toBe(isLeft);
  });

  test('of what was brought where nothing ran nobody has anything to do', () => {
    const more = { placement, givenUp: [{ claim: files(), cluster: 'east', by: [] }] };
    expect(section(more, 'Data that is left')).toEqual([
      'east: what a copier has brought of the data of its claim files is there, and nothing ran with it; it is deleted',
    ]);
    expect(section(more, 'What you can do')).toBeUndefined();
  });

  test('of a set whose data comes along: none before it has moved, then where it was copied from', () => {
    const copied = (phase: 'Copying' | 'Copied') =>
      [
        { spec: { claim: 'data-db-0', from: 'east', to: 'west' }, status: { phase } },
      ] as unknown as Told['copies'];
    const moved = { ...of(along), claims: [], copies: copied('Copied') };
    expect(section({ ...moved, copies: [] }, 'Data that is left')).toBeUndefined();
    expect(section({ ...moved, copies: copied('Copying') }, 'Data that is left')).toBeUndefined();
    expect(section(moved, 'Data that is left')).toEqual([
      'east: its claims stay there with the data of when they were copied to west; while it has others of the same names they are not shown',
    ]);
    expect(section(moved, 'What you can do')).toEqual([
      'see what it left on a cluster, with the kubeconfig of that: kubectl -n root--shop get pvc',
    ]);
    expect(section({ ...moved, claims }, 'What you can do')?.[0]).toBe(
      'have the data on east again: kubectl -n shop annotate statefulsets.apps/db --overwrite atoll.dev/volumes=hold atoll.dev/clusters=east',
    );
  });

  test('what stays since its copy failed is not said to be moving', () => {
    const conditions = [{ type: 'Settled', status: 'False', reason: 'CopyFailed', message: 'no' }];
    const shares = { ...moving.spec?.shares, west: { phase: 'Active' as const, replicas: 0 } };
    const placement = placed({ ...moving.spec, shares }, { conditions });
    expect(storyOf(told({ placement })).headline).toBe('is on east, and cannot get where it ought to be');
  });

  test.each<[string, string, object, string]>([
    ['has started', 'False', { east: { phase: 'Active' } }, 'is on east until it ends, and is to be on west'],
    ['has ended', 'True', {}, 'has ended, and is nowhere any more'],
  ])('a Job that %s is not said to be moving', (_what, status, shares, headline) => {
    const reason = status === 'True' ? 'Settled' : 'Leaving';
    const conditions = [{ type: 'Settled', status, reason, message: 'x' }];
    const ref = { group: 'batch', resource: 'jobs', kind: 'Job', name: 'web', uid: 'u', version: 'v1' };
    const placement = placed({ ...moving.spec, ref, clusters: ['west'], shares }, { conditions });
    expect(storyOf(told({ placement })).headline).toBe(headline);
  });

  test('of what has ended, and is nowhere any more, no cluster is named', () => {
    const conditions = [{ type: 'Placed', status: 'True', reason: 'Ended', message: 'x' }];
    const spec = { ...moving.spec, clusters: ['west'], shares: {}, reasons: { west: 'x', east: 'y' } };
    const of = (said: object[]) =>
      section(told({ placement: placed(spec, { conditions: said }) }), 'Where it is to be');
    expect(of(conditions)).toBeUndefined();
    expect(of([])).toEqual(['west: x']);
  });

  test('where no node is one for its pods the command that has it elsewhere is told', () => {
    const reasons = { west: 'it has the most room, though no node there has the name n, as its pods ask' };
    const placement = placed({ ...moving.spec, clusters: ['west'], reasons });
    expect(section(told({ placement }), 'What you can do')?.join()).toContain(
      'have its pods ask for what nodes of west have, or name another cluster',
    );
  });

  test('of a set that goes without them: also what is not shown', () => {
    expect(section({ ...of(recreate), claims: [] }, 'Data that is left')).toEqual([
      'if it was on another cluster before, its claims are there with their data; while it has others of the same names they are not shown',
    ]);
    expect(section({ ...of(recreate), claims: [] }, 'What you can do')).toEqual([
      'see what it left on a cluster, with the kubeconfig of that: kubectl -n root--shop get pvc',
    ]);
  });
});

describe('pods', () => {
  test.each<[string, object, string]>([
    [
      'no node takes',
      {
        phase: 'Pending',
        conditions: [
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' },
        ],
      },
      'Unschedulable: 0/3 nodes',
    ],
    ['is being made', waiting('ContainerCreating'), 'Pending'],
    ['cannot start', waiting('CrashLoopBackOff'), 'container c: CrashLoopBackOff'],
    [
      'has ended',
      {
        phase: 'Failed',
        containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 2, reason: 'Error' } } }],
      },
      'container c: Error (exit code 2)',
    ],
    ['is not ready', { phase: 'Running' }, 'runs, and is not ready yet'],
    [
      'waits for a readiness gate',
      {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: 'gate' }],
      },
      'runs, and is not ready: gate',
    ],
    ['is new', {}, 'not seen by a node yet'],
  ])('that %s', (_what, status, why) => {
    expect(troublesOn('east', [pod('p', 'east', status)])).toEqual([`pod p: ${why}`]);
  });

  test('of this cluster only, not those that are well, are done or go', () => {
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const going = pod('c', 'east', {}, { deletionTimestamp: '2030-01-01T00:00:00Z' });
    const all = [
      pod('a', 'west', {}),
      pod('b', 'east', ready),
      going,
      pod('d', 'east', { phase: 'Succeeded' }),
    ];
    expect(troublesOn('east', all)).toEqual([]);
  });

  test('of many the first', () => {
    const many = Array.from({ length: 9 }, (_, i) => pod(`p${i}`, 'east', {}));
    expect(troublesOn('east', many)).toHaveLength(4);
    expect(troublesOn('east', many).at(-1)).toBe('and 6 more pods that are not ready');
  });

  test.each<[string, object, string | undefined]>([
    [
      'Deployment',
      { selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'k', operator: 'Exists' }] } },
      'a=b,k',
    ],
    ['ReplicationController', { selector: { a: 'b' } }, 'a=b'],
    ['Deployment', { selector: {} }, undefined],
    ['Service', { selector: { a: 'b' } }, undefined],
    ['Job', {}, 'batch.kubernetes.io/job-name=web'],
  ])('of a %s are found by %j: %s', (name, spec, selector) => {
    expect(podSelectorOf({ ...web({}), kind: name, spec })).toBe(selector);
  });

  test('and clusters do not steer the terminal', () => {
    const pods = [pod('p', 'west', waiting('x', 'a\u001b[2Jb\u009bc\nd'))];
    const line = section({ placement: moving, pods }, 'Where it is')?.at(-1);
    expect(line).toBe('  pod p: container c: x: a [2Jb c d');
  });
});

describe('KIND/NAME', () => {
  test.each([
    [['deploy/web'], 'deployments', 'web'],
    [['Deployment', 'web'], 'deployments', 'web'],
    [['deployments.apps/web'], 'deployments', 'web'],
    [['hpa/web'], 'horizontalpodautoscalers', 'web'],
    [['svc', 'web'], 'services', 'web'],
    [['Rollout/web'], 'rollout', 'web'],
    [['rollouts.argoproj.io', 'web'], 'rollouts', 'web'],
  ])('%j', (words, resource, name) => {
    expect(parseNamed(words)).toMatchObject({ kind: { resource }, name });
  });

  test.each([
    [['web'], 'expected KIND/NAME'],
    [['deploy/'], 'expected KIND/NAME'],
    [['deploy/a/b'], 'expected KIND/NAME'],
    [['deploy', 'a', 'b'], 'expected KIND/NAME'],
    [['role/a'], '"role" is no kind that is placed; these are: deployments, '],
    [['deployments.extensions/a'], 'is no kind that is placed'],
  ])('%j is none', (words, message) => {
    expect(() => parseNamed(words)).toThrow(UsageError);
    expect(() => parseNamed(words)).toThrow(message);
  });
});

test.each([
  [1, '1 more claim that it uses was not looked at'],
  [7, '7 more claims that it uses were not looked at'],
])('of claims beyond those that it reads it says that there are %i, and how to see them', (unread, words) => {
  expect(section({ unread }, 'Data that is left')).toEqual([
    `${words}: atoll explain pvc/NAME -n shop tells of one, kubectl -n shop get pvc names them all`,
  ]);
});

test('it reads of fifty claims, and counts the others', async () => {
  const reads: string[] = [];
  const transport: Transport = async ({ url }) => {
    reads.push(url);
    const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 };
    return { status: 404, headers: {}, body: Buffer.from(JSON.stringify(status)) };
  };
  const requires = Array.from({ length: 53 }, (_, i) => ({
    group: '',
    resource: 'persistentvolumeclaims',
    name: `data-${i}`,
  }));
  const told = await givenUpOf(new Client(transport), web(), placed({ clusters: ['a'], requires }));
  expect(told).toEqual({ givenUp: [], unread: 3 });
  expect(reads).toHaveLength(50);
});

test('what a cluster takes with other replicas is not told as what it does not take', () => {
  const of = (reason: string) => {
    const west = { present: true, error: { reason, message: 'why' } };
    return section(
      { placement: placed({ ...moving.spec }, { ...moving.status, clusters: { west } }) },
      'Where it is',
    )?.[1];
  };
  expect(of('Changed')).toBe('west: joining, not counted on yet; 0/3 ready; Changed: why');
  expect(of('Invalid')).toBe(
    'west: joining, not counted on yet; 0/3 ready; it does not take it: Invalid: why',
  );
});
