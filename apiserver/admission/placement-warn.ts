import { placedKind } from '../../cluster/kinds.ts';
import {
  clustersAnnotation,
  drainAnnotation,
  isSystemNamespace,
  overflowAnnotation,
  pausedAnnotation,
  rootCluster,
  spreadAnnotation,
  volumesAnnotation,
  waitAnnotation,
} from '../../cluster/names.ts';
import { isHeldBack, labelsBeyond } from '../../cluster/namespace-labels.ts';
import { adoptedBy } from '../../cluster/placeable.ts';
import { placedResources } from '../../cluster/placed-resource.ts';
import { podReferences, podTemplate } from '../../cluster/pod-spec.ts';
import { spreadIn } from '../../cluster/spread.ts';
import { groupResource } from '../../kube/gvk.ts';
import type { Later } from '../../kube/later.ts';
import type { KubeObject } from '../../kube/object.ts';
import { podSecurityOf } from '../../kube/pod-security/policy.ts';
import type { AdmissionRequest } from '../plugins.ts';
import { clustersOf, isNowhere, nowhere } from './topologies.ts';

/** What users say by annotations. */
const words = [
  clustersAnnotation,
  drainAnnotation,
  overflowAnnotation,
  pausedAnnotation,
  spreadAnnotation,
  volumesAnnotation,
  waitAnnotation,
] as const;
const prefix = 'atoll.dev/';
/** Of keys that are none of these, so many of one object are looked at. */
const mostGuesses = 10;
/** Of letters that are added, left out or exchanged. */
const mostWrong = 2;

/** Tells of what is accepted and yet is hardly what was meant. Only where the write brings it. */
export function warnOfPlacement(request: AdmissionRequest, object: KubeObject): void {
  const { old } = request;
  for (const [key, value] of newIn(object.metadata.annotations, old?.metadata.annotations)) {
    const field = `metadata.annotations[${key}]`;
    if (key === clustersAnnotation)
      for (const why of [...oddities(request, value), ...adoption(object)]) request.warn(`${field}: ${why}`);
    if (key === overflowAnnotation && value === 'true')
      for (const why of idleOverflow(request, object)) request.warn(`${field}: it has no effect ${why}`);
  }
  for (const [key, meant] of wordsIn(newIn(object.metadata.annotations, old?.metadata.annotations)))
    if (meant !== key) request.warn(`metadata.annotations[${key}]: it has no effect; did you mean ${meant}?`);
  if (isNamespace(request)) warnOfLabels(request, object);
  for (const [key, meant] of wordsIn(newIn(object.metadata.labels, old?.metadata.labels))) {
    if (meant !== clustersAnnotation) continue;
    request.warn(
      `metadata.labels[${key}]: it has no effect; where to run is the annotation ${clustersAnnotation}`,
    );
  }
  const kind = placedKind(request.stored.info);
  if (kind?.role !== 'workload') return;
  if (kind.kind !== 'Pod') warnOfTemplate(request, object);
  if (!old && isSystemNamespace(request.namespace)) {
    request.warn(
      `namespace ${request.namespace} belongs to the system: nothing in it runs on physical clusters`,
    );
  }
}

/** Of a Namespace: which of its labels mean less on physical clusters than they say. */
function warnOfLabels(request: AdmissionRequest, { metadata: { labels } }: KubeObject): void {
  const before = request.old?.metadata.labels;
  for (const [key, value] of newIn(labels, before)) {
    // Of what is refused for itself there is nothing to say besides.
    if (isHeldBack(key, value) && podSecurityOf({ [key]: value }).causes.length === 0)
      request.warn(
        `metadata.labels[${key}]: ${value} counts on physical clusters only where their administrator lets it in`,
      );
  }
  const known = labelsBeyond(before);
  const beyond = labelsBeyond(labels).filter((key) => !known.includes(key));
  if (beyond.length > 0)
    request.warn(
      `metadata.labels: physical namespaces bear 64 of them; not these: ${beyond.join(', ').slice(0, 1000)}`,
    );
}

/** See lateOwner in splitter/group.ts. */
function adoption(object: KubeObject): string[] {
  const owner = adoptedBy(object);
  if (!owner) return [];
  const name = `${owner.kind} ${owner.name}`;
  return [`${name} has adopted this, and it leaves no cluster before that one does; annotate ${name}, too`];
}

/** See mayOverflow in scheduler/overflow.ts. */
function* idleOverflow({ stored: { info } }: AdmissionRequest, object: KubeObject): Iterable<string> {
  const kind = placedKind(info);
  if (kind?.role !== 'workload') return;
  if (kind.spread !== 'counts') yield `on a ${kind.kind}: what has replicas overflows, but no ordinals`;
  else if (Object.hasOwn(object.metadata.annotations ?? {}, spreadAnnotation))
    yield `beside ${spreadAnnotation}, which says how many are where`;
  else if (
    podReferences(podTemplate(object).spec).some(({ resource }) => resource === 'persistentvolumeclaims')
  )
    yield `on what has claims: on two clusters each would be two volumes`;
}

function isNamespace({ stored: { info } }: AdmissionRequest): boolean {
  return info.group === '' && info.resource === 'namespaces';
}

function warnOfTemplate(request: AdmissionRequest, object: KubeObject): void {
  const annotations = (of: KubeObject | undefined) => of && podTemplate(of).annotations;
  for (const [key, meant] of wordsIn(newIn(annotations(object), annotations(request.old)))) {
    if (meant !== clustersAnnotation) continue;
    const why = `it has no effect on the pods of a ${object.kind}; annotate the ${object.kind} itself`;
    request.warn(`spec.template.metadata.annotations[${key}]: ${why}`);
  }
}

/** Of a spread over a label that there is not: a cluster without it takes nothing. */
export function warnOfNowhere(request: AdmissionRequest, { metadata }: KubeObject): Later<void> {
  const spread = spreadIn(metadata.annotations);
  const before = request.old?.metadata.annotations?.[spreadAnnotation];
  if (spread === undefined || metadata.annotations?.[spreadAnnotation] === before) return undefined;
  const { topologyKey } = spread;
  return clustersOf(request).then((clusters) => {
    if (isNowhere(topologyKey, clusters))
      request.warn(`metadata.annotations[${spreadAnnotation}]: ${nowhere(topologyKey)}`);
  });
}

/** Of a custom resource only root's rules say whether it is placed. */
export async function warnOfUnruled(request: AdmissionRequest): Promise<void> {
  const { info, custom } = request.stored;
  if (!custom) return;
  const { items } = await request.registry.list({ cluster: rootCluster, ...placedResources });
  if (items.some(({ metadata: { name } }) => name === groupResource(info))) return;
  const why = `no PlacedResource says that a ${info.kind} runs on physical clusters`;
  request.warn(`metadata.annotations[${clustersAnnotation}]: it has no effect: ${why}`);
}

/** Of the keys those that are words of ours, or were meant to be, each with the word. */
function* wordsIn(entries: readonly [string, string][]): Iterable<[key: string, meant: string]> {
  let guesses = 0;
  for (const [key] of entries) {
    if (!key.startsWith(prefix)) continue;
    const known = words.find((word) => word === key);
    if (known === undefined && ++guesses > mostGuesses) continue;
    const meant = known ?? words.find((word) => distance(word, key) <= mostWrong);
    if (meant !== undefined) yield [key, meant];
  }
}

/** How many letters have to be added, left out or exchanged; of one much longer, at least so many. */
function distance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > mostWrong) return mostWrong + 1;
  let row = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const exchanged = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(exchanged, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

type Texts = Readonly<Record<string, string>>;

function newIn(now: Texts | undefined, before: Texts | undefined): [string, string][] {
  if (!now) return [];
  return Object.entries(now).filter(
    ([key, value]) => !(before && Object.hasOwn(before, key)) || before[key] !== value,
  );
}

function* oddities(request: AdmissionRequest, value: string): Iterable<string> {
  const { info } = request.stored;
  if (!isNamespace(request) && !placedKind(info) && !request.stored.custom) {
    yield `it has no effect: a ${info.kind} does not run on physical clusters`;
    return;
  }
  const parts = value.split(',');
  const names = parts.map((part) => part.trim()).filter((name) => name !== '');
  if (names.length === 0) {
    yield 'it names no physical cluster, which is as if it were absent';
    return;
  }
  if (names.length < parts.length) yield 'a name between two commas is missing';
  if (parts.some((part) => part !== part.trim())) yield 'spaces around a name are no part of it';
  const doubled = names.filter((name, i) => names.indexOf(name) !== i);
  for (const name of new Set(doubled)) yield `${name} is named more than once`;
}
