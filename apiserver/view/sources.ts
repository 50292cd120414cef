import { givenAnnotation, sourcesAnnotation } from '../../cluster/names.ts';
import { isHeld, isReflected, reflectedAs, reflectedFrom } from '../../cluster/reflected.ts';
import type { KubeObject } from '../../kube/object.ts';
import { timestamp } from '../../kube/timestamp.ts';
import { getOwn, setOwn, textAt } from '../../kube/untyped.ts';

/** What a cluster has of an object that several may have. */
interface Source {
  /** There. */
  uid: string;
  /** It is not the one that it had when it became one of this object's. */
  anew?: true;
  /** It has been deleted there, where another may be made of the same. */
  gone?: true;
}

/** As the syncer that put it last said; of one from before they did, nothing. */
export function sourceOf(object: KubeObject, cluster: string): string | undefined {
  return getOwn(sourcesOf(object), cluster)?.uid;
}

/** To be kept on what is made of `before` as this cluster says it. Nothing said: it has what it had. */
export function sourcesWith(
  before: KubeObject | undefined,
  cluster: string,
  told: unknown,
): Record<string, string> {
  const sources = before ? sourcesOf(before) : {};
  const was = getOwn(sources, cluster);
  if (typeof told === 'string' && told !== '' && told.length <= 64) {
    const isAnew = was !== undefined && (was.anew === true || was.uid !== told);
    setOwn(sources, cluster, { uid: told, ...(isAnew && { anew: true as const }) });
  }
  return noted(sources);
}

function noted(sources: Record<string, Source>): Record<string, string> {
  return Object.keys(sources).length > 0 ? { [sourcesAnnotation]: JSON.stringify(sources) } : {};
}

/** `left` is what others have of it. `mayCome`: the cluster is to have it, and may make it anew. */
export function withoutSource(left: KubeObject, cluster: string, mayCome: boolean): KubeObject {
  const { [cluster]: was, ...others } = allSources(left);
  const kept = { ...others, ...(was && mayCome && { [cluster]: { ...was, gone: true as const } }) };
  const { [sourcesAnnotation]: _sources, ...rest } = left.metadata.annotations ?? {};
  return { ...left, metadata: { ...left.metadata, annotations: { ...rest, ...noted(kept) } } };
}

/** All that it was is gone, and each of its clusters has made it anew: that is another object, of another uid. */
export function isAnother(object: KubeObject): boolean {
  const clusters = reflectedFrom(object);
  const sources = sourcesOf(object);
  return clusters.length > 0 && !isHeld(object) && clusters.every((name) => getOwn(sources, name)?.anew);
}

/** What comes in its stead: what its clusters say of it, and nothing that somebody here has said of the former. */
export function asAnother(former: KubeObject, uid: string): KubeObject {
  const { name, namespace, labels, ownerReferences } = former.metadata;
  const { [givenAnnotation]: _given, ...annotations } = former.metadata.annotations ?? {};
  const from = reflectedFrom(former);
  const known = Object.entries(sourcesOf(former)).filter(([cluster]) => from.includes(cluster));
  const sources = Object.fromEntries(known.map(([cluster, { uid: there }]) => [cluster, { uid: there }]));
  const owners = ownerReferences?.filter(({ controller }) => controller === true) ?? [];
  return {
    ...former,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      uid,
      creationTimestamp: timestamp(),
      ...(labels && { labels }),
      annotations: reflectedAs({ ...annotations, ...noted(sources) }, uid, from),
      ...(owners.length > 0 && { ownerReferences: owners }),
    },
  };
}

/** Of clusters that have it, or had it and may have it again. */
function sourcesOf(object: KubeObject): Record<string, Source> {
  const from = reflectedFrom(object);
  const known = Object.entries(allSources(object)).filter(([name, { gone }]) => gone || from.includes(name));
  return Object.fromEntries(known);
}

/** Nobody but the server writes them. */
function allSources(object: KubeObject): Record<string, Source> {
  const text = textAt(object.metadata, 'annotations', sourcesAnnotation);
  if (!text || !isReflected(object)) return {};
  return JSON.parse(text) as Record<string, Source>;
}
