import type { ShareView } from '../cluster/types.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { at, textAt } from '../kube/untyped.ts';
import type { Engine } from './engine.ts';
import type { TargetPlace } from './target.ts';

/**
 * Until when its controller there is to think that all was started, of a CronJob that waited there and runs now: of what was due
 * meanwhile it starts the last one, though another cluster has. Undefined: it knows.
 * https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-suspension
 */
export function toNote(
  manifest: KubeObject,
  object: KubeObject,
  ranAt: string | undefined,
): string | undefined {
  if (ranAt === undefined || manifest.kind !== 'CronJob' || at(manifest, 'spec', 'suspend') === true)
    return undefined;
  const knows = textAt(object, 'status', 'lastScheduleTime') ?? object.metadata.creationTimestamp ?? '';
  return Date.parse(ranAt) > (Date.parse(knows) || 0) ? ranAt : undefined;
}

/** Before it is let go. Who may not write it has it run, and what was due last twice: it would run never otherwise. */
export async function noteRan(
  engine: Engine,
  { kind, namespace, name }: TargetPlace,
  { spec }: ShareView,
  { manifest, object }: { manifest: KubeObject; object: KubeObject },
): Promise<void> {
  const lastScheduleTime = toNote(manifest, object, spec?.share.ranAt);
  if (lastScheduleTime === undefined) return;
  const body = { metadata: { uid: object.metadata.uid }, status: { lastScheduleTime } };
  const { client, signal, logger } = engine;
  try {
    await client.patch(kind, { namespace, name, subresource: 'status' }, 'merge', body, { signal });
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
    logger.warn(
      { namespace, name, err: error },
      'a CronJob may start again what another cluster has started',
    );
  }
}
