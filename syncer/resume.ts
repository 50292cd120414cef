import type { ShareView } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { type Engine, recordFor, shareFor } from './engine.ts';
import { ownership } from './ownership.ts';
import { digest, fingerprint, hasObserved, manifestDigest, shareNumbers } from './records.ts';
import { isScaled, withoutReplicas } from './scaled.ts';
import { parseTarget, type TargetId, targetOf } from './target.ts';
import { isWithdrawn, turns } from './withdrawn.ts';

/** To be another when a syncer of this version leaves another object there of the same manifest. */
const version = 1;
const length = 20;

/**
 * Of a manifest and the object that was made of it. Of labels and annotations all count, not those alone that are applied: one
 * that was applied and never told of must not stay. That others' count too costs one more apply at most.
 */
export function appliedMark(object: KubeObject, manifest: KubeObject): string {
  const {
    metadata,
    status: _status,
    kind: _kind,
    apiVersion: _version,
    ...rest
  } = isScaled(manifest) ? withoutReplicas(object) : object;
  const { uid, labels = {}, annotations = {}, generation } = metadata;
  const sorted = (of: Record<string, string>) => Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1));
  const there = [
    uid,
    sorted(labels),
    sorted(annotations),
    (isScaled(manifest) ? undefined : generation) ?? rest,
  ];
  return digest([version, manifestDigest(manifest), there]).slice(0, length);
}

/** What the next syncer is to be told of it; undefined unless it is there as it was applied, and seen by its controller. */
export function appliedThere(engine: Engine, id: TargetId, share: ShareView): string | undefined {
  const { manifest, ref } = share.spec ?? {};
  const record = engine.records.get(id);
  if (!manifest || !record?.applied || record.error || record.manifest !== manifestDigest(manifest))
    return undefined;
  const { kind, namespace, name } = parseTarget(id, ref);
  const object = engine.physical.cached(kind, namespace, name);
  if (
    !object ||
    object.metadata.deletionTimestamp ||
    !hasObserved(object, record.applied.physicalGeneration, ref)
  )
    return undefined;
  return record.fingerprint === fingerprint(object, manifest) ? appliedMark(object, manifest) : undefined;
}

/** What there is, of each target with a share, when a syncer starts. */
export function noteFound(engine: Pick<Engine, 'shares' | 'found'>): void {
  for (const share of engine.shares.values()) {
    const id = targetOf(share);
    engine.found.set(id, shareFor(engine, id)?.status?.applied);
  }
}

/**
 * A syncer that starts goes on where the former one was told to be: what is there exactly as that had applied it, of the same
 * manifest, is not applied again. Whatever anybody changed there since, or whatever is wanted by now, is another digest.
 */
export function resume(
  engine: Pick<Engine, 'physical' | 'records' | 'former'>,
  { id, share, found }: { id: TargetId; share: ShareView; found: string | undefined },
): void {
  const { manifest, locator, generation, ref, isBeside } = share.spec ?? {};
  if (!share.spec || !manifest || !locator || isBeside) return;
  const record = recordFor(engine, id);
  if (record.applied) return;
  const { kind, namespace, name } = parseTarget(id, ref);
  const object = engine.physical.cached(kind, namespace, name);
  const isOurs = object && ownership(object, locator, engine.former) === 'ours';
  if (!isOurs || found !== appliedMark(object, manifest) || isUnderWay(object, manifest)) {
    record.remark = true;
    return;
  }
  record.manifest = manifestDigest(manifest);
  record.fingerprint = fingerprint(object, manifest);
  record.applied = {
    uid: object.metadata.uid ?? '',
    physicalGeneration: object.metadata.generation ?? 0,
    generation: generation ?? 0,
    share: shareNumbers(share.spec.share),
  };
}

/** It goes, or is a Service that is withdrawn, or was, and slices may be left of that. */
function isUnderWay(object: KubeObject, manifest: KubeObject): boolean {
  if (object.metadata.deletionTimestamp) return true;
  return isWithdrawn(manifest) || turns(manifest, object, {});
}
