import { expect, test } from 'vitest';
import { locatorAnnotation } from '../../../cluster/names.ts';
import type { ShareView } from '../../../cluster/types.ts';
import { WorkQueue } from '../../../controller/queue.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Engine } from '../../../syncer/engine.ts';
import { physicalChanged } from '../../../syncer/physical-changed.ts';
import { newRecord } from '../../../syncer/records.ts';
import { targetOf } from '../../../syncer/target.ts';

const locator = {
  syncer: 's',
  cluster: 'c',
  namespace: 'n',
  resource: 'deployments.apps',
  name: 'web',
  uid: 'u',
};
const ref = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  name: 'web',
  uid: 'u',
};
const manifest = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'n' } };
const share = (part: object): ShareView => {
  const spec = { ref, locator, physicalNamespace: 'n', share: { phase: 'Active' }, ...part };
  const metadata = { name: 'web', namespace: 'n', uid: 'p' };
  return { apiVersion: 'atoll.dev/v1alpha1', kind: 'Share', metadata, spec } as unknown as ShareView;
};
const id = targetOf(share({}));
const there = (metadata: object): KubeObject => {
  const annotations = { [locatorAnnotation]: JSON.stringify(locator) };
  return { ...manifest, metadata: { ...manifest.metadata, uid: 'there', annotations, ...metadata } };
};
const deletionTimestamp = '2030-01-01T00:00:00Z';

const made = { ...manifest, metadata: { ...manifest.metadata, uid: 'made' } };
const copied = there({
  annotations: { [locatorAnnotation]: JSON.stringify({ ...locator, resource: 'statefulsets.apps' }) },
});

interface Seen {
  isKnown?: boolean;
  isRequired?: boolean;
}

const [leaves, stays] = [share({ share: { phase: 'Leaving' }, moved: true }), share({ manifest })];

test.each<[string, ShareView | undefined, KubeObject | undefined, 'down' | 'up' | 'nowhere', Seen?]>([
  ['goes on going where it is told to leave, is only told of', leaves, there({ deletionTimestamp }), 'up'],
  ['is there where it is told to leave, is deleted', leaves, there({}), 'down'],
  ['has gone where it was told to leave, is looked after', leaves, undefined, 'down'],
  [
    'goes and leaves its pods behind, has these marked',
    share({ orphaned: 'u' }),
    there({ deletionTimestamp }),
    'down',
  ],
  ['is being deleted where it is to stay, is made anew', stays, there({ deletionTimestamp }), 'down'],
  [
    'is being deleted where there is no share, is looked after',
    undefined,
    there({ deletionTimestamp }),
    'down',
  ],
  ['is there where there is no share, is looked after', undefined, there({}), 'down'],
  ["bears our label and was made by a controller, is nobody's", undefined, made, 'nowhere'],
  ["names another kind, as what copies annotations does, is nobody's", undefined, copied, 'nowhere'],
  ["has gone where nothing was done about it, is nobody's", undefined, undefined, 'nowhere'],
  ['has gone and was waited for, is looked after', undefined, undefined, 'down', { isKnown: true }],
  ['has gone and was required, is looked after', undefined, undefined, 'down', { isRequired: true }],
  ['bears our label only and was ours before, is looked after', undefined, made, 'down', { isKnown: true }],
])('what %s', (_what, of, object, where, { isKnown = false, isRequired = false } = {}) => {
  const emptied: string[] = [];
  const queues = { down: new WorkQueue(), up: new WorkQueue() };
  const engine = {
    ...queues,
    shares: { byIndex: () => (of ? [of] : []), hasIndexed: () => isRequired },
    records: new Map(isKnown ? [[id, newRecord()]] : []),
    physical: { cached: () => object, watched: () => undefined },
    namespaceMayBeEmpty: (namespace: string) => emptied.push(namespace),
  };
  physicalChanged(engine as unknown as Engine, id);
  expect([queues.down.length, queues.up.length]).toEqual(
    { down: [1, 0], up: [0, 1], nowhere: [0, 0] }[where],
  );
  expect(emptied).toEqual(object ? [] : ['n']);
});
