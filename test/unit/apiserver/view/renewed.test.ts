import { expect, test } from 'vitest';
import { joinShare } from '../../../../apiserver/view/join.ts';
import type { Placement, Share } from '../../../../cluster/types.ts';
import type { KubeObject } from '../../../../kube/object.ts';

const root = (uid: string, more: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', uid, ...more },
});
const ending = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const leaving: Share = { phase: 'Leaving', replicas: 2 };

test.each<[string, string, string, Share, KubeObject | undefined, string | undefined, true | undefined]>([
  ['a Deployment that was made anew', 'apps', 'deployments', leaving, root('other'), undefined, true],
  ['a DaemonSet that was made anew', 'apps', 'daemonsets', leaving, root('other'), undefined, true],
  ['a Job that was made anew', 'batch', 'jobs', leaving, root('other'), undefined, true],
  [
    'a StatefulSet, whose pods have the same names',
    'apps',
    'statefulsets',
    leaving,
    root('other'),
    undefined,
    undefined,
  ],
  ['a Pod, which has the same name', '', 'pods', leaving, root('other'), undefined, undefined],
  ['what is only deleted', 'apps', 'deployments', leaving, undefined, undefined, undefined],
  ['what is moved', 'apps', 'deployments', leaving, root('u'), undefined, undefined],
  [
    'what was made anew, and is deleted again',
    'apps',
    'deployments',
    leaving,
    root('other', ending),
    undefined,
    undefined,
  ],
  [
    'what was on a cluster that did not answer when another one began',
    'apps',
    'deployments',
    { ...leaving, former: true },
    root('u'),
    undefined,
    true,
  ],
  [
    'what is to be there again, and may',
    'apps',
    'deployments',
    { ...leaving, anew: true },
    root('u'),
    undefined,
    true,
  ],
  ['what left its pods behind', 'apps', 'deployments', leaving, root('other'), 'u', undefined],
  [
    'what has yet to be told to go',
    'apps',
    'deployments',
    { phase: 'Active', replicas: 2 },
    root('other'),
    undefined,
    undefined,
  ],
])(
  'another one starts beside what is left of it: %s',
  (_, group, resource, share, now, orphaned, renewed) => {
    const ref = { group, version: 'v1', resource, kind: 'Deployment', name: 'web', uid: 'u' };
    const spec = { ref, clusters: [], shares: { east: share }, ...(orphaned !== undefined && { orphaned }) };
    const metadata = { name: `web.${resource}`, namespace: 'shop', uid: 'p' };
    const placement = { apiVersion: 'atoll.dev/v1alpha1', kind: 'Placement', metadata, spec } as Placement;
    const viewer = { cluster: 'east', uid: 'syncer' };
    expect(joinShare({ viewer, logical: 'id', placement, root: now, revision: 1 })?.spec?.renewed).toBe(
      renewed,
    );
  },
);

test.each<[string, Share, string | undefined, true | undefined]>([
  ['what moves is kept', leaving, undefined, true],
  ['nothing of a former one is kept', { ...leaving, former: true }, undefined, undefined],
  ['nor what that made, when the present one is orphaned', { ...leaving, former: true }, 'u', undefined],
])('of what it made where it leaves %s', (_, share, orphaned, moved) => {
  const ref = {
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    kind: 'Deployment',
    name: 'web',
    uid: 'u',
  };
  const spec = { ref, clusters: [], shares: { east: share }, ...(orphaned !== undefined && { orphaned }) };
  const metadata = { name: 'web.deployments.apps', namespace: 'shop', uid: 'p' };
  const placement = { apiVersion: 'atoll.dev/v1alpha1', kind: 'Placement', metadata, spec } as Placement;
  const viewer = { cluster: 'east', uid: 'syncer' };
  const view = joinShare({ viewer, logical: 'id', placement, root: root('u'), revision: 1 })?.spec;
  expect([view?.moved, view?.orphaned]).toEqual([moved, undefined]);
});
