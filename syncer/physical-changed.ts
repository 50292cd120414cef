import type { KubeObject } from '../kube/object.ts';
import { wakeOthers } from './down.ts';
import { type Engine, shareFor } from './engine.ts';
import { isOrphaned } from './orphans.ts';
import { readLocator } from './ownership.ts';
import { fingerprint, hasObserved } from './records.ts';
import { parseTarget, type TargetId } from './target.ts';

/** Called for every change on the physical side. */
export function physicalChanged(engine: Engine, id: TargetId): void {
  const record = engine.records.get(id);
  const share = shareFor(engine, id);
  const { kind, namespace, name } = parseTarget(id, share?.spec?.ref ?? engine.physical.watched(id));
  const object = engine.physical.cached(kind, namespace, name);
  const manifest = share?.spec?.manifest;
  if (!share && !record && !mayConcern(engine, id, object)) {
    if (!object) engine.namespaceMayBeEmpty(namespace);
    return;
  }
  // It goes as it was told to: how far it has come is all that is new until it is gone.
  if (object?.metadata.deletionTimestamp && share && !manifest && !isOrphaned(share, object)) {
    engine.up.add(id);
    return;
  }
  if (object && manifest && record?.applied && record.applied.uid === object.metadata.uid) {
    if (hasObserved(object, record.applied.physicalGeneration, share.spec?.ref)) engine.up.add(id);
    if (record.fingerprint === fingerprint(object, manifest)) {
      engine.up.add(id);
      if (kind.resource === 'resourcequotas') wakeOthers(engine, id, share);
      return;
    }
  }
  engine.down.add(id);
  if (!object) engine.namespaceMayBeEmpty(namespace);
}

/**
 * What controllers make there may bear our label, as the slices of a Service do, which get all that their Service has: it is nobody's here.
 * Nor is what has gone, and nothing was done about.
 */
function mayConcern(engine: Engine, id: TargetId, object: KubeObject | undefined): boolean {
  if (engine.shares.hasIndexed('requires', id)) return true;
  const [resource] = id.split('/');
  return object !== undefined && readLocator(object)?.resource === resource;
}
