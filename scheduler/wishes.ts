import { overflowIn } from '../cluster/drain.ts';
import { mismatch } from '../cluster/expression.ts';
import { clustersAnnotation, placedByAnnotation, schedulerUser } from '../cluster/names.ts';
import { parseWord } from '../cluster/placement.ts';
import type { Toleration } from '../cluster/policy.ts';
import { shownKey, spreadIn, type TopologySpread, topologyOf } from '../cluster/spread.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { perObject } from '../kube/per-object.ts';
import type { LabelSelectorMatcher } from '../kube/selector.ts';
import { textAt } from '../kube/untyped.ts';

/** Other workloads of the Namespace, as a policy says of whom it is to be beside, or apart from. */
export interface Term {
  /** The same for all that say the same. */
  key: string;
  /** As of a spread: see topologyOf. */
  topologyKey: string;
  /** Of the workloads themselves, as of a policy's selector. */
  labels: LabelSelectorMatcher;
  /** `app=db` */
  shown: string;
}

/** What one layer, an annotation or a policy, says of where an object may be. */
export interface Said {
  /** Who says it, for the reasons: "its annotation", "PlacementPolicy web". */
  source: string;
  /** A policy never takes an object from its data; a user's own annotation does. */
  isPolicy: boolean;
  /** These and no others, whatever layers below say. */
  names?: readonly string[];
  /** The same names, in groups: those of a later one only for want of an earlier one's. */
  groups?: readonly (readonly string[])[];
  labels?: LabelSelectorMatcher;
  expression?: string;
  exclude: readonly string[];
  /** Absent: layers below say how many. */
  count?: number | 'all';
  tolerations?: readonly Toleration[];
  spread?: TopologySpread;
  /** Whether one cluster more takes what has no room on the first; absent: layers below say. */
  overflow?: boolean;
  affinity?: readonly Term[];
  antiAffinity?: readonly Term[];
}

/** All layers together. What names clusters counts instead of all below it; what does not only narrows what these leave. */
export interface Wish {
  /** Undefined: any cluster. */
  names?: readonly string[];
  /** As of a layer. */
  groups?: readonly (readonly string[])[];
  /** free: where it is, else one. */
  count: number | 'all' | 'free';
  /** Who says how many, or is the first to say anything. */
  source: string;
  /** As the first layer says it that says anything of it, which is `by`. */
  spread?: TopologySpread & { by: string };
  /** Who lets it overflow; absent where the first layer that says anything of it does not. */
  overflowsBy?: string;
  /** What each says, the most specific first. */
  layers: readonly Said[];
}

/** Of all layers. */
export function tolerationsOf(wish: Wish | undefined): Toleration[] {
  return wish?.layers.flatMap((said) => said.tolerations ?? []) ?? [];
}

function annotation(object: KubeObject | undefined, key: string): string | undefined {
  const { annotations = {} } = object?.metadata ?? {};
  return Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

export function isSchedulers(object: KubeObject): boolean {
  return annotation(object, placedByAnnotation) === schedulerUser;
}

/** What the scheduler itself wrote on the object; undefined when it has not. */
export function schedulersNote(object: KubeObject): string | undefined {
  return isSchedulers(object) ? annotation(object, clustersAnnotation) : undefined;
}

const ofItself = 'its annotation';
const ofNamespace = "its Namespace's annotation";

/** Of a reason that a Placement has. */
export function isByAnnotation(reason: string): boolean {
  return reason.includes(ofItself) || reason.includes(ofNamespace);
}

/** What a user asks for on the object itself. An annotation that nobody signed is a user's. */
export const ownWord = perObject((object: KubeObject): Said | undefined =>
  wordOf(object, ofItself, !isSchedulers(object)),
);

function namespaceWord(namespace: KubeObject | undefined): Said | undefined {
  return wordOf(namespace, ofNamespace);
}

function wordOf(object: KubeObject | undefined, source: string, isTheirs = true): Said | undefined {
  const { names, exclude } = parseWord(isTheirs ? annotation(object, clustersAnnotation) : undefined);
  const spread = spreadIn(object?.metadata.annotations);
  const overflow = overflowIn(object?.metadata.annotations);
  if (names.length === 0 && exclude.length === 0 && !spread && overflow === undefined) return undefined;
  const all = names.length > 0 && ({ names, count: 'all' } as const);
  const more = { ...(spread && { spread }), ...(overflow !== undefined && { overflow }) };
  return { source, isPolicy: false, exclude, ...all, ...more };
}

/** A user's own annotation says of the object where it is to be, or not to be. */
export function saysWhere(object: KubeObject): boolean {
  const own = ownWord(object);
  return own !== undefined && (own.names !== undefined || own.exclude.length > 0);
}

/** The object itself is to be on clusters that its own annotation names. */
export function namesClusters(object: KubeObject): boolean {
  return ownWord(object)?.names !== undefined;
}

/** All that is in the Namespace is to be on clusters that its annotation names. */
export function placesAll(namespace: KubeObject | undefined): boolean {
  return namespaceWord(namespace)?.names !== undefined;
}

/** Of a workload: `policies` as policiesFor gives them. Nobody may change it. */
export function wishOf(
  object: KubeObject,
  namespace: KubeObject | undefined,
  policies: readonly Said[],
): Wish | undefined {
  return policies.length === 0 && namespace
    ? annotatedWish(object)(namespace)
    : wishBy(object, namespace, policies);
}

/** What only annotations say: asked at each decision about the Namespace, of all that is in it. */
const annotatedWish = perObject((object: KubeObject) =>
  perObject((namespace: KubeObject) => wishBy(object, namespace, [])),
);

function wishBy(
  object: KubeObject,
  namespace: KubeObject | undefined,
  policies: readonly Said[],
): Wish | undefined {
  const annotated = [ownWord(object), namespaceWord(namespace)].filter((said) => said !== undefined);
  const layers: Said[] = [];
  for (const said of [...annotated, ...policies]) {
    layers.push(said);
    if (said.names) break;
  }
  const counts = layers.find(({ count }) => count !== undefined);
  const source = (counts ?? layers[0])?.source;
  if (source === undefined) return undefined;
  const { names, groups } = layers.at(-1) ?? {};
  const overflows = layers.find(({ overflow }) => overflow !== undefined);
  const spreads = layers.find(({ spread }) => spread !== undefined);
  return {
    ...(names && { names }),
    ...(groups && { groups }),
    count: counts?.count ?? 'free',
    source,
    ...(spreads?.spread && { spread: { ...spreads.spread, by: spreads.source } }),
    ...(overflows?.overflow && { overflowsBy: overflows.source }),
    layers,
  };
}

/** Secrets for whoever asks the logical cluster: to no pod are they any good, and they say much. */
const ofHere = new Set(['helm.sh/release.v1', 'bootstrap.kubernetes.io/token']);

/**
 * Of what goes along with workloads: for its own sake it is only where annotations name clusters. Where somebody means all of a
 * Namespace, they do not mean what is kept in it for use here.
 */
export function closureWish(object: KubeObject, namespace: KubeObject | undefined): Wish | undefined {
  const isOfHere = object.kind === 'Secret' && ofHere.has(textAt(object, 'type') ?? '');
  const wish = wishOf(object, isOfHere ? undefined : namespace, []);
  if (!wish?.names) return undefined;
  const { spread: _spread, ...rest } = wish;
  return rest;
}

/** Why a cluster is not one that may be chosen, as a sentence; undefined: it is. */
export function refusal(wish: Wish, name: string, cluster: PhysicalCluster | undefined): string | undefined {
  for (const said of wish.layers) {
    const why = refusalBy(said, name, cluster);
    if (why !== undefined) return why;
  }
  return wish.spread && cluster && outsideOf(wish.spread, cluster);
}

function refusalBy(
  { source, names, labels, expression, exclude }: Said,
  name: string,
  cluster: PhysicalCluster | undefined,
): string | undefined {
  if (exclude.includes(name)) return `excluded by ${source}`;
  if (names && !names.includes(name)) return `not named by ${source}`;
  if (labels && !labels.matches(cluster?.metadata.labels)) return `its labels do not match ${source}`;
  return expression !== undefined && cluster ? mismatch(expression, source, cluster) : undefined;
}

/**
 * The same of all clusters, where one policy alone says it: found once for all workloads that it selects, for as long as the clusters
 * are the same. Nobody may change it.
 */
export function refusedByPolicy(
  { layers, spread }: Wish,
  clusters: ReadonlyMap<string, PhysicalCluster>,
): ReadonlyMap<string, string> | undefined {
  const [said] = layers;
  return said?.isPolicy && layers.length === 1 && !spread ? refusedOf(clusters)(said) : undefined;
}

const refusedOf = perObject((clusters: ReadonlyMap<string, PhysicalCluster>) =>
  perObject((said: Said): ReadonlyMap<string, string> => {
    const refused = new Map<string, string>();
    for (const [name, cluster] of clusters) {
      const why = refusalBy(said, name, cluster);
      if (why !== undefined) refused.set(name, why);
    }
    return refused;
  }),
);

/** Why a cluster is in none of the places that something is spread over. */
function outsideOf({ topologyKey, replicas, by }: NonNullable<Wish['spread']>, cluster: PhysicalCluster) {
  const value = topologyOf(topologyKey, cluster);
  if (value === undefined) return `it has no label ${topologyKey}, which ${by} spreads over`;
  return replicas && !Object.hasOwn(replicas, value)
    ? `${by} has no replicas for ${shownKey(topologyKey)} ${value}`
    : undefined;
}

/** A user's own word on the object, or on its Namespace, is that it is not to be there: not even for its data. */
export function leavesOut(wish: Wish | undefined, name: string): boolean {
  return (wish?.layers ?? []).some(
    ({ isPolicy, names, exclude }) =>
      !isPolicy && (exclude.includes(name) || (names && !names.includes(name))),
  );
}
