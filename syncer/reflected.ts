import { claimOfAnnotation, locatorAnnotation, orphanOfAnnotation } from '../cluster/names.ts';
import { isAsReported } from '../cluster/peers.ts';
import type { ReflectedKind } from '../cluster/reflected.ts';
import type { Retry } from '../controller/controller.ts';
import type { KubeObject } from '../kube/object.ts';

/** Whose it is may not be asked at present: when to try again. Until then nothing of it changes up there. */
export const unknownMs = 10_000;

/** What owns it may have been made a moment ago, and not be in our caches yet: when to look again. */
export function ownerMayCome({ metadata }: KubeObject): Retry | undefined {
  const owned = metadata.ownerReferences?.some(({ controller }) => controller === true);
  return owned && isYoung({ metadata }) ? { after: 1_000 } : undefined;
}

export function isYoung({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return Date.now() - Date.parse(metadata.creationTimestamp ?? '') < 30_000;
}

/** The metadata that goes up; what proves ownership there says nothing here. */
export function reflectedMetadata({ metadata }: KubeObject): KubeObject['metadata'] {
  const {
    name,
    generateName,
    labels,
    generation,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
  } = metadata;
  const {
    [locatorAnnotation]: _,
    [orphanOfAnnotation]: __,
    [claimOfAnnotation]: ___,
    ...annotations
  } = metadata.annotations ?? {};
  return {
    ...(name && { name }),
    ...(generateName && { generateName }),
    ...(labels && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(generation !== undefined && { generation }),
    ...(creationTimestamp && { creationTimestamp }),
    ...(deletionTimestamp && { deletionTimestamp }),
    ...(deletionTimestamp && { deletionGracePeriodSeconds: deletionGracePeriodSeconds ?? 0 }),
  };
}

/**
 * The server has yet to hear that the cluster has a share of its owner, or that what stands between them has that owner:
 * then it is under nobody, or under the owner itself.
 */
export function isUnderOther(sent: KubeObject, written: KubeObject): boolean {
  const [meant] = sent.metadata.ownerReferences ?? [];
  const [found] = written.metadata.ownerReferences ?? [];
  return meant !== undefined && (meant.kind !== found?.kind || meant.name !== found.name);
}

/** In the logical cluster, where it is shown. */
export function isAltered({ kind }: ReflectedKind, object: KubeObject): boolean {
  return kind === 'EndpointSlice' && !isAsReported(object);
}
