import { expect, test } from 'vitest';
import { deletionConditions, type Remains } from '../../../controller/namespace/decide.ts';

const none: Remains = { counts: {}, finalizers: {}, failures: [], unknown: [] };
const told = (remains: Partial<Remains>) =>
  Object.fromEntries(
    deletionConditions({ ...none, ...remains }, [], 'now').map((one) => [
      one.type,
      `${one.status} ${one.reason}: ${one.message}`,
    ]),
  );

/** As kube-controller-manager 1.36.3 says it. */
const nothing = {
  NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
  NamespaceDeletionGroupVersionParsingFailure:
    'False ParsedGroupVersions: All legacy kube types successfully parsed',
  NamespaceDeletionContentFailure:
    'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
  NamespaceContentRemaining: 'False ContentRemoved: All content successfully removed',
  NamespaceFinalizersRemaining: 'False ContentHasNoFinalizers: All content-preserving finalizers finished',
};

test('what holds a namespace is told by kind and finalizer, in the order of names', () => {
  expect(told({})).toEqual(nothing);
  expect(
    told({ counts: { secrets: 1, 'deployments.apps': 2 }, finalizers: { 'x.y/z': 2, 'x.y/w': 1 } }),
  ).toEqual({
    ...nothing,
    NamespaceContentRemaining:
      'True SomeResourcesRemain: Some resources are remaining: deployments.apps has 2 resource instances, secrets. has 1 resource instances',
    NamespaceFinalizersRemaining:
      'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: x.y/w in 1 resource instances, x.y/z in 2 resource instances',
  });
});

test('that nobody knows what a group has is no failure of deleting it', () => {
  expect(told({ unknown: ['gone.example.com/v1'] })).toEqual({
    ...nothing,
    NamespaceDeletionDiscoveryFailure:
      'True DiscoveryFailed: Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: gone.example.com/v1: stale GroupVersion discovery: gone.example.com/v1',
  });
});
