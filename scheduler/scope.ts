import { namedByPods, type PlacedObject, placedAs, placedKey, refKey } from '../cluster/closure.ts';
import { type PlacedKind, placedKind } from '../cluster/kinds.ts';
import type { ClosureRef, Placement } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { listAt, textAt } from '../kube/untyped.ts';

/** Of these a namespace may hold thousands that no workload uses; a workload uses them by name only. */
export function isUsedByName(kind: PlacedKind): boolean {
  return kind.role === 'closure' && kind.reach === 'named';
}

/** One namespace, as the caches hold it. */
export interface NamespaceView {
  all(kind: PlacedKind): readonly KubeObject[];
  /** Those whose own annotation names clusters. */
  wishing(kind: PlacedKind): readonly KubeObject[];
  get(kind: PlacedKind, name: string): KubeObject | undefined;
}

export interface Scope {
  objects: PlacedObject[];
  /** The refKeys that a decision depends on, of objects that exist and of those that do not yet. */
  mentioned: ReadonlySet<string>;
}

/** Everything that can matter to a namespace's decision: its cost is that of what is used, not of what is there. */
export function scopeOf(
  kinds: Iterable<PlacedKind>,
  view: NamespaceView,
  placements: readonly Placement[],
  ruled: readonly PlacedObject[] = [],
): Scope {
  const objects: PlacedObject[] = [...ruled];
  const scope = { objects, mentioned: new Set<string>() };
  for (const kind of kinds) {
    const found = isUsedByName(kind) ? view.wishing(kind) : view.all(kind);
    for (const object of found) {
      const placed = placedAs(kind, object);
      if (isUsedByName(kind)) scope.mentioned.add(placedKey(placed));
      objects.push(placed);
    }
  }
  for (const placed of [...objects]) for (const ref of namedBy(placed)) mention(ref, view, scope);
  for (const { spec } of placements) {
    if (!spec) continue;
    for (const ref of [spec.ref, ...(spec.requires ?? [])]) mention(ref, view, scope);
  }
  return scope;
}

function mention(
  ref: ClosureRef,
  view: NamespaceView,
  scope: { objects: PlacedObject[]; mentioned: Set<string> },
): void {
  const kind = placedKind(ref);
  const key = refKey(ref);
  if (!kind || !isUsedByName(kind) || scope.mentioned.has(key)) return;
  scope.mentioned.add(key);
  const object = view.get(kind, ref.name);
  if (!object) return;
  const placed = placedAs(kind, object);
  scope.objects.push(placed);
  for (const next of namedBy(placed)) mention(next, view, scope);
}

/** What it names, whether or not that exists. */
export function namedBy({ kind, object }: PlacedObject): readonly ClosureRef[] {
  if (kind.role === 'workload') return namedByPods(object);
  const secrets = (items: readonly unknown[], field: string) =>
    items.flatMap((item): ClosureRef[] => {
      const name = textAt(item, field);
      return name ? [{ group: '', resource: 'secrets', name }] : [];
    });
  if (kind.resource === 'ingresses') return secrets(listAt(object, 'spec', 'tls'), 'secretName');
  if (kind.resource !== 'serviceaccounts') return [];
  return secrets([...listAt(object, 'secrets'), ...listAt(object, 'imagePullSecrets')], 'name');
}
