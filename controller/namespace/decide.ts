import type { Condition } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';

export type Namespace = KubeObject<{ finalizers?: string[] }, { phase?: string; conditions?: Condition[] }>;

export const namespaceFinalizer = 'kubernetes';

export type NamespaceStep =
  | { do: 'nothing' }
  | { do: 'furnish'; serviceAccount: boolean; rootCa: boolean }
  | { do: 'empty' };

/** What a namespace needs next. `found` is what it holds of the two objects that every namespace has. */
export function decideNamespace(
  namespace: Namespace,
  found: { serviceAccount: boolean; rootCa: string | undefined },
  rootCa: string | undefined,
): NamespaceStep {
  if (namespace.metadata.deletionTimestamp) {
    const ours = namespace.spec?.finalizers?.includes(namespaceFinalizer) ?? false;
    return ours ? { do: 'empty' } : { do: 'nothing' };
  }
  const serviceAccount = !found.serviceAccount;
  const stale = rootCa !== undefined && found.rootCa !== rootCa;
  return serviceAccount || stale ? { do: 'furnish', serviceAccount, rootCa: stale } : { do: 'nothing' };
}

/** How many objects of each resource are left, and why those that do not go by themselves stay. */
export interface Remains {
  counts: Readonly<Record<string, number>>;
  finalizers: Readonly<Record<string, number>>;
  failures: readonly string[];
  /** Group versions, `example.com/v1`, of which nobody says what they have. */
  unknown: readonly string[];
}

/** The conditions that tell why a namespace is still there; times of unchanged ones are kept. */
export function deletionConditions(remains: Remains, old: readonly Condition[], now: string): Condition[] {
  const { counts, finalizers, failures, unknown } = remains;
  // As Kubernetes has it, whose names of resources end with their group, and a dot where that is empty.
  const content = sorted(counts).map(
    ([name, n]) => `${name}${name.includes('.') ? '' : '.'} has ${n} resource instances`,
  );
  const held = sorted(finalizers).map(([name, n]) => `${name} in ${n} resource instances`);
  const stale = unknown.map((version) => `${version}: stale GroupVersion discovery: ${version}`);
  const next = [
    condition('NamespaceDeletionDiscoveryFailure', stale, 'DiscoveryFailed', 'ResourcesDiscovered', [
      `Discovery failed for some groups, ${stale.length} failing: unable to retrieve the complete list of server APIs: ${stale.join(', ')}`,
      'All resources successfully discovered',
    ]),
    condition('NamespaceDeletionGroupVersionParsingFailure', [], '', 'ParsedGroupVersions', [
      '',
      'All legacy kube types successfully parsed',
    ]),
    condition('NamespaceDeletionContentFailure', failures, 'ContentDeletionFailed', 'ContentDeleted', [
      `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`,
      'All content successfully deleted, may be waiting on finalization',
    ]),
    condition('NamespaceContentRemaining', content, 'SomeResourcesRemain', 'ContentRemoved', [
      `Some resources are remaining: ${content.join(', ')}`,
      'All content successfully removed',
    ]),
    condition('NamespaceFinalizersRemaining', held, 'SomeFinalizersRemain', 'ContentHasNoFinalizers', [
      `Some content in the namespace has finalizers remaining: ${held.join(', ')}`,
      'All content-preserving finalizers finished',
    ]),
  ];
  const kept = old.filter(({ type }) => !next.some((one) => one.type === type));
  const timed = next.map((one) => {
    const before = old.find(({ type }) => type === one.type);
    const since = before?.status === one.status ? before.lastTransitionTime : now;
    return { ...one, lastTransitionTime: since };
  });
  return [...kept, ...timed];
}

function sorted(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
}

function condition(
  type: string,
  items: readonly string[],
  reasonIfAny: string,
  reasonIfNone: string,
  [messageIfAny = '', messageIfNone = '']: string[],
): Omit<Condition, 'lastTransitionTime'> {
  return items.length > 0
    ? { type, status: 'True', reason: reasonIfAny, message: messageIfAny }
    : { type, status: 'False', reason: reasonIfNone, message: messageIfNone };
}
