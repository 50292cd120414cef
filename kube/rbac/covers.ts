import { HeldRules } from './held.ts';
import type { PolicyRule } from './rule.ts';

/**
 * Of `wanted`, in pieces of one verb and one thing each, what no rule of `held` covers; undefined: that takes looking
 * at more than `most` rules.
 */
export function missingRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
  most: number = Number.POSITIVE_INFINITY,
): PolicyRule[] | undefined {
  const index = new HeldRules(held);
  const missing: PolicyRule[] = [];
  for (const rule of wanted) {
    for (const piece of pieces(rule)) {
      if (!index.covers(piece)) missing.push(piece);
      if (index.steps > most) return undefined;
    }
  }
  return missing;
}

/** How many pieces they come to: the product of their lists, which a small body may make a billion. */
export function piecesIn(rules: readonly PolicyRule[]): number {
  return rules.reduce((sum, { apiGroups, resources, resourceNames, nonResourceURLs, verbs }) => {
    const things = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
    return sum + verbs.length * (things + nonResourceURLs.length);
  }, 0);
}

const none: readonly string[] = [];

function pieces({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: PolicyRule): PolicyRule[] {
  const out: PolicyRule[] = [];
  const names = resourceNames.length > 0 ? resourceNames.map((name) => [name]) : [none];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        for (const name of names) {
          out.push(piece({ verbs: [verb], apiGroups: [group], resources: [resource], resourceNames: name }));
        }
      }
    }
  }
  for (const url of nonResourceURLs) {
    for (const verb of verbs) out.push(piece({ verbs: [verb], nonResourceURLs: [url] }));
  }
  return out;
}

function piece(given: Partial<PolicyRule>): PolicyRule {
  return {
    verbs: none,
    apiGroups: none,
    resources: none,
    resourceNames: none,
    nonResourceURLs: none,
    ...given,
  };
}

/** Rules of one resource that differ by their verbs alone become one; what cannot be joined comes first. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const simple = new Map<string, PolicyRule & { verbs: string[] }>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    const key = simpleKey(rule);
    const same = key === undefined ? undefined : simple.get(key);
    if (key === undefined) others.push(rule);
    else if (same === undefined) simple.set(key, { ...rule, verbs: [...rule.verbs] });
    else for (const verb of rule.verbs) same.verbs.push(verb);
  }
  return [...others, ...simple.values()];
}

function simpleKey({ apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string | undefined {
  const isSimple = apiGroups.length === 1 && resources.length === 1 && resourceNames.length <= 1;
  if (!isSimple || nonResourceURLs.length > 0) return undefined;
  return JSON.stringify([apiGroups, resources, resourceNames]);
}
