import { at, isRecord, listAt } from '../kube/untyped.ts';
import { logicalClusterLabel, managedLabel } from './names.ts';
import { keyThere, markOf } from './namespace-labels.ts';
import type { PodAccess } from './pod-access.ts';
import type { Locator } from './types.ts';

type Spec = Record<string, unknown>;

/** Where an object goes on a physical cluster, and whose it is. */
export interface ShapeTarget {
  physicalNamespace: string;
  locator: Locator;
  /** How its pods reach their logical cluster; absent: as they reach the cluster which runs them. */
  access?: PodAccess | undefined;
}

/**
 * A NetworkPolicy's spec that speaks of the namespaces of its own logical cluster, by the labels that the user gave them,
 * and of those on the physical cluster that are nobody's here (its DNS, its ingress controller), by the labels that they
 * have there, but never of another logical cluster's. https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function amongNeighbours(spec: Spec, locator: Locator): Spec {
  const rules = (list: unknown, field: 'from' | 'to') =>
    Array.isArray(list)
      ? list.map((rule) =>
          isRecord(rule) && Array.isArray(rule[field])
            ? { ...rule, [field]: rule[field].flatMap((peer) => peersOf(peer, locator)) }
            : rule,
        )
      : list;
  return {
    ...spec,
    ...(spec['ingress'] !== undefined && { ingress: rules(spec['ingress'], 'from') }),
    ...(spec['egress'] !== undefined && { egress: rules(spec['egress'], 'to') }),
  };
}

function peersOf(peer: unknown, locator: Locator): unknown[] {
  const selector = isRecord(peer) ? peer['namespaceSelector'] : undefined;
  if (!isRecord(peer) || !isRecord(selector)) return [peer];
  return [ownNamespaces(selector, locator), nobodys(selector)].map((namespaceSelector) => ({
    ...peer,
    namespaceSelector,
  }));
}

/** Of the namespaces of one logical cluster those that the selector means there. */
function ownNamespaces(selector: Spec, locator: Locator): Spec {
  const { matchLabels } = selector;
  const labels = isRecord(matchLabels) ? Object.entries(matchLabels) : [];
  const expressions = listAt(selector, 'matchExpressions').map((one) =>
    isRecord(one) && typeof one['key'] === 'string' ? { ...one, key: keyThere(one['key']) } : one,
  );
  const own = { key: logicalClusterLabel, operator: 'In', values: [markOf(locator)] };
  return {
    ...(labels.length > 0 && {
      matchLabels: Object.fromEntries(labels.map(([key, value]) => [keyThere(key), value])),
    }),
    matchExpressions: [...expressions, own],
  };
}

function nobodys(selector: Spec): Spec {
  // Each of ours bears the second from its birth on, the first as soon as it is told to.
  const isNobodys = [logicalClusterLabel, managedLabel].map((key) => ({ key, operator: 'DoesNotExist' }));
  return { ...selector, matchExpressions: [...listAt(selector, 'matchExpressions'), ...isNobodys] };
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

/**
 * A pod's spec whose affinities speak of pods of its own logical cluster only: by those of another it could tell what
 * runs there, and keep it from running. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
 */
export function nearNeighbours(spec: Spec, target: ShapeTarget): Spec {
  const { affinity } = spec;
  if (!isRecord(affinity)) return spec;
  const changed: Spec = { ...affinity };
  for (const field of ['podAffinity', 'podAntiAffinity']) {
    const terms = affinity[field];
    if (isRecord(terms)) changed[field] = termsNear(terms, target, field === 'podAntiAffinity');
  }
  return { ...spec, affinity: changed };
}

function termsNear(terms: Spec, target: ShapeTarget, mayBeTwo: boolean): Spec {
  const changed: Spec = { ...terms };
  if (Array.isArray(terms[required]))
    changed[required] = terms[required].flatMap((term) => termNear(term, target, mayBeTwo));
  if (Array.isArray(terms[preferred]))
    changed[preferred] = terms[preferred].flatMap((one) =>
      isRecord(one)
        ? termNear(one['podAffinityTerm'], target, true).map((term) => ({ ...one, podAffinityTerm: term }))
        : [one],
    );
  return changed;
}

/**
 * A term speaks of the namespaces that it names and of those that it selects. Together these are two terms there, but
 * not where all terms must find a pod: then of the named ones only its own remains.
 */
function termNear(term: unknown, { physicalNamespace, locator }: ShapeTarget, mayBeTwo: boolean): unknown[] {
  if (!isRecord(term)) return [term];
  const { namespaces: _, namespaceSelector: given, ...rest } = term;
  const names = listAt(term, 'namespaces');
  const selected = isRecord(given) ? ownNamespaces(given, locator) : undefined;
  if (names.length === 0) return selected ? [{ ...rest, namespaceSelector: selected }] : [term];
  const own = names.includes(locator.namespace) ? { namespaces: [physicalNamespace] } : {};
  const isOwnAlone = names.every((name) => name === locator.namespace);
  const named = { key: 'kubernetes.io/metadata.name', operator: 'In', values: names };
  const bySelector = { ...rest, namespaceSelector: selected };
  const byName = {
    ...rest,
    namespaceSelector: ownNamespaces({ matchExpressions: [named] }, locator),
  };
  if (!selected) return isOwnAlone ? [{ ...rest, ...own }] : [byName];
  if (isEverything(given)) return [bySelector];
  return isOwnAlone || !mayBeTwo ? [{ ...bySelector, ...own }] : [bySelector, byName];
}

function isEverything(selector: unknown): boolean {
  const labels = at(selector, 'matchLabels');
  return listAt(selector, 'matchExpressions').length === 0 && Object.keys(labels ?? {}).length === 0;
}
