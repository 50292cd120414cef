import type { Json, KubeObject } from '../object.ts';
import { type LabelSelector, labelSelectorFromObject } from '../selector.ts';
import { at, listAt } from '../untyped.ts';
import { canonicalRule } from './rule.ts';

/** Whether a ClusterRole's rules are those of others. https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles */
export function aggregates(role: KubeObject): boolean {
  return at(role, 'aggregationRule') !== undefined && at(role, 'aggregationRule') !== null;
}

/** Whether any of a ClusterRole's selectors selects these labels. */
export function selectsLabels(
  role: KubeObject,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selectorsOf(role).some((selector) => selector.matches(labels ?? {}));
}

interface Canonical {
  /** One for each rule. */
  keys: readonly string[];
  /** The same for roles that say the same. */
  all: string;
}

/** What the rules of roles say; those of each role are read once. */
export class CanonicalRules {
  readonly #read = new WeakMap<KubeObject, Canonical>();

  of(role: KubeObject): Canonical {
    const there = this.#read.get(role);
    if (there !== undefined) return there;
    const keys = listAt(role, 'rules').map(canonicalRule);
    const read = { keys, all: keys.join('\n') };
    this.#read.set(role, read);
    return read;
  }
}

/** The rules that a ClusterRole has of the others: by selector, then by name, each once. */
export function aggregatedRules(
  role: KubeObject,
  all: readonly KubeObject[],
  canonical: CanonicalRules = new CanonicalRules(),
): Json[] {
  const others = all
    .filter(({ metadata }) => metadata.name !== role.metadata.name)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const rules: Json[] = [];
  const known = new Set<string>();
  const had = new Set<string>();
  for (const selector of selectorsOf(role)) {
    for (const other of others) {
      if (!selector.matches(other.metadata.labels ?? {})) continue;
      const { keys, all: whole } = canonical.of(other);
      // Those that aggregate the same say the same: of many, each says all.
      if (had.has(whole)) continue;
      had.add(whole);
      for (const [i, rule] of (listAt(other, 'rules') as Json[]).entries()) {
        const key = keys[i] ?? '';
        if (!known.has(key)) rules.push(rule);
        known.add(key);
      }
    }
  }
  return rules;
}

type Selectors = readonly ReturnType<typeof labelSelectorFromObject>[];

/** Each role's are read once: they may be many. */
const selectors = new WeakMap<KubeObject, Selectors>();

function selectorsOf(role: KubeObject): Selectors {
  const there = selectors.get(role);
  if (there !== undefined) return there;
  const read = listAt(role, 'aggregationRule', 'clusterRoleSelectors').map((selector) =>
    labelSelectorFromObject(selector as LabelSelector),
  );
  selectors.set(role, read);
  return read;
}
