import { expect, test, vi } from 'vitest';
import { joinShare } from '../../../apiserver/view/join.ts';
import type { Placement, ShareView } from '../../../cluster/types.ts';
import { Rush } from '../../../controller/rush.ts';
import { applyShare } from '../../../syncer/apply.ts';
import type { Engine } from '../../../syncer/engine.ts';
import { isNews } from '../../../syncer/news.ts';
import { parseTarget } from '../../../syncer/target.ts';

const at = Date.parse('2030-01-01T00:00:00Z');
const made = (secondsAgo: number) => new Date(at - secondsAgo * 1000).toISOString();
const shareOf = (creationTimestamp: string | undefined): ShareView =>
  ({ metadata: { name: 'web', namespace: 'n', creationTimestamp }, spec: {} }) as unknown as ShareView;

test.each<[string, string | undefined, boolean]>([
  ['was made just now', made(0), true],
  ['was made a minute ago', made(60), false],
  ['was made a little less than a minute ago', made(59), true],
  ['was made by a clock that is ahead', made(-5), true],
  ['moves, a day after it was made', made(86_400), false],
  ['does not say when it was made', undefined, false],
])('whether what %s is news', (_what, creationTimestamp, expected) => {
  expect(isNews(shareOf(creationTimestamp), at)).toBe(expected);
});

test.each<[string, number, boolean]>([
  ['new waits for its turn to be told of in a rush', 0, true],
  ['moved to this cluster is told of at once', 3600, false],
])('what is %s', async (_what, secondsAgo, waits) => {
  const ref = {
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    kind: 'Deployment',
    name: 'web',
    uid: 'u',
  };
  const manifest = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'n' } };
  const locator = { syncer: 's', cluster: 'c', namespace: 'n', uid: 'u' };
  const share = {
    ...shareOf(new Date(Date.now() - secondsAgo * 1000).toISOString()),
    spec: { ref, manifest, locator, physicalNamespace: 'n', generation: 1, share: { phase: 'Active' } },
  } as unknown as ShareView;
  const record = { requires: [], repairs: 0, repairNotBefore: 0, absent: false } as { madeAt?: number };
  const patch = vi.fn(async () => ({
    ...manifest,
    metadata: { ...manifest.metadata, uid: 'there', generation: 1 },
  }));
  const engine = {
    client: { patch },
    namespaces: { letGo: new Set(), ensure: async () => undefined },
    accountTokens: { ensure: async () => undefined },
    physical: { watch: async () => undefined },
    rush: new Rush(),
    signal: new AbortController().signal,
  } as unknown as Engine;
  const place = parseTarget('deployments.apps/n/web', ref);
  await applyShare(engine, { share, manifest, place, record: record as never, cached: undefined });
  expect(patch).toHaveBeenCalledOnce();
  expect(engine.rush.isNew(record.madeAt)).toBe(waits);
});

test('a share says when its Placement was made', () => {
  const ref = {
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    kind: 'Deployment',
    name: 'web',
    uid: 'u',
  };
  const placement: Placement = {
    apiVersion: 'atoll.dev/v1alpha1',
    kind: 'Placement',
    metadata: { name: 'web.deployments.apps', namespace: 'n', creationTimestamp: made(0) },
    spec: { ref, clusters: ['east'], shares: { east: { phase: 'Joining' } } },
  };
  const viewer = { cluster: 'east', uid: 'uid-of-east' };
  const view = joinShare({
    viewer,
    logical: 'root',
    placement,
    root: undefined,
    access: undefined,
    revision: 7,
  });
  expect(view?.metadata.creationTimestamp).toBe(made(0));
});
