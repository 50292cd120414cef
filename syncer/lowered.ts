import type { ToldShare } from '../cluster/share.ts';
import type { KubeObject } from '../kube/object.ts';
import { numberAt } from '../kube/untyped.ts';
import { type Engine, recordFor, shareFor } from './engine.ts';
import { controllerOf } from './owners.ts';
import { parseTarget, type TargetId } from './target.ts';

/** Those that let go of any of their pods, as all are alike. */
const alike = new Set(['Deployment', 'ReplicaSet', 'ReplicationController']);

/** How many it is to have before it leaves its pods, where it has more there; undefined: it leaves what it has. */
export function lowerTo(object: KubeObject, share: ToldShare | undefined): number | undefined {
  const { replicas, scaled } = share ?? {};
  if (replicas === undefined || scaled !== undefined) return undefined;
  if (!alike.has(object.kind) || controllerOf(object)) return undefined;
  return (numberAt(object, 'spec', 'replicas') ?? 1) > replicas ? replicas : undefined;
}

/**
 * Of what is left on two clusters some are too many: its own controller takes them away before it is let go of. Told once, as somebody of that
 * cluster may tell it otherwise; true when there is nothing to wait for.
 */
export async function isLowered(engine: Engine, id: TargetId, object: KubeObject): Promise<boolean> {
  const record = recordFor(engine, id);
  const { namespace, name = '', uid } = object.metadata;
  const replicas = lowerTo(object, shareFor(engine, id)?.spec?.share);
  if (replicas !== undefined && record.loweredTo === undefined) {
    const body = { metadata: { ...(uid && { uid }) }, spec: { replicas } };
    const { kind } = parseTarget(id);
    const now = await engine.client.patch(kind, { namespace, name }, 'merge', body, {
      signal: engine.signal,
    });
    record.loweredTo = now.metadata.generation ?? 0;
  }
  // What was never told to have fewer is let go of whether or not anybody there looks after it.
  if (record.loweredTo === undefined) return true;
  return (numberAt(object, 'status', 'observedGeneration') ?? 0) >= record.loweredTo;
}
