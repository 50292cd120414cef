import { coversUrl, type PolicyRule } from './rule.ts';

/** Of `wanted`, in pieces of one verb and one thing each, what no rule of `held` covers. */
export function missingRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(pieces).filter((piece) => !held.some((rule) => covers(rule, piece)));
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

/** `wanted` has at most one of each. */
function covers(held: PolicyRule, wanted: PolicyRule): boolean {
  return (
    hasAll(held.verbs, wanted.verbs) &&
    hasAll(held.apiGroups, wanted.apiGroups) &&
    wanted.resources.every((resource) => coversResource(held.resources, resource)) &&
    coversNames(held.resourceNames, wanted.resourceNames) &&
    wanted.nonResourceURLs.every((path) => held.nonResourceURLs.some((url) => coversUrl(url, path)))
  );
}

function hasAll(held: readonly string[], wanted: readonly string[]): boolean {
  return held.includes('*') || wanted.every((one) => held.includes(one));
}

function coversResource(held: readonly string[], wanted: string): boolean {
  if (held.includes('*') || held.includes(wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && held.includes(`*${wanted.slice(slash)}`);
}

function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.includes(name));
}

/** Rules of one resource that differ by their verbs alone become one; what cannot be joined comes first. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const simple = new Map<string, PolicyRule>();
  const others: PolicyRule[] = [];
  for (const rule of rules) {
    const key = simpleKey(rule);
    const same = key === undefined ? undefined : simple.get(key);
    if (key === undefined) others.push(rule);
    else simple.set(key, same ? { ...same, verbs: [...same.verbs, ...rule.verbs] } : rule);
  }
  return [...others, ...simple.values()];
}

function simpleKey({ apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string | undefined {
  const isSimple = apiGroups.length === 1 && resources.length === 1 && resourceNames.length <= 1;
  if (!isSimple || nonResourceURLs.length > 0) return undefined;
  return JSON.stringify([apiGroups, resources, resourceNames]);
}
