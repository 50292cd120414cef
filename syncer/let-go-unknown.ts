import type { ResourceRef } from '../client/url.ts';
import { letGoAnnotation, locatorAnnotation } from '../cluster/names.ts';
import { sleep } from '../kube/clock.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { logicalNamespace } from './cleanup.ts';
import { type Engine, shareFor } from './engine.ts';
import { isOurs } from './leave.ts';
import { targetId } from './target.ts';

/**
 * Of the PhysicalCluster's uid, where what is upstream was put back from a backup since the cluster was met last: what says that it
 * has been met by now. Undefined: it was not put back, or has met it.
 */
export type FirstMeeting = (uid: string) => Promise<(() => Promise<void>) | undefined>;

const namespaces: ResourceRef = { group: '', version: 'v1', resource: 'namespaces' };
const lookMs = 20;
const mostLooks = 500;

/**
 * Of what was made since a backup, nothing upstream knows once that was put back: which is not to say that anybody deleted it.
 * When the cluster is met for the first time then, the namespaces of such Namespaces are let go with all that is in them, which
 * runs on, and so are claims in other namespaces: data is nowhere else. They are nobody's from then on. Has to be over before
 * anything of ours is removed here. It may be done twice.
 */
export async function letGoUnknown(engine: Engine, firstMeeting?: FirstMeeting): Promise<void> {
  const met = await firstMeeting?.(engine.uid);
  if (met === undefined) return;
  for (const { metadata } of engine.namespaces.informer.list()) {
    const name = metadata.name ?? '';
    const own = engine.namespaces.own(name);
    if (!own) continue;
    if ((await logicalNamespace(engine, own.locator)) !== 'gone') await letClaimsGo(engine, name);
    else if (!own.object.metadata.deletionTimestamp) {
      await letGo(engine, namespaces, own.object);
      await until(() => engine.namespaces.own(name) === undefined, engine.signal);
    }
  }
  await met();
}

async function letClaimsGo(engine: Engine, namespace: string): Promise<void> {
  for (const { kind, object } of [...engine.physical.inNamespace(namespace)]) {
    const name = object.metadata.name ?? '';
    const id = targetId(kind, namespace, name);
    if (kind.resource !== 'persistentvolumeclaims' || object.metadata.deletionTimestamp) continue;
    if (shareFor(engine, id) || !isOurs(engine, id, object)) continue;
    await letGo(engine, kind, object);
    const isLetGo = () => {
      const there = engine.physical.cached(kind, namespace, name);
      return !there || !isOurs(engine, id, there);
    };
    await until(isLetGo, engine.signal);
  }
}

async function letGo(
  { client, signal, logger }: Engine,
  kind: ResourceRef,
  { metadata }: KubeObject,
): Promise<void> {
  const { name = '', namespace, uid } = metadata;
  const annotations = {
    [locatorAnnotation]: null,
    [letGoAnnotation]: metadata.annotations?.[locatorAnnotation],
  };
  const body = { metadata: { uid, annotations } };
  try {
    await client.patch(kind, { namespace, name }, 'merge', body, { signal });
    logger.warn(
      { resource: kind.resource, namespace, name },
      'the backup that was restored knows nothing of this: it is let go, and stays',
    );
  } catch (error) {
    // It has gone, or another has its name.
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}

/** The watch tells. */
async function until(isSo: () => boolean, signal: AbortSignal): Promise<void> {
  for (let looks = 0; !isSo() && looks < mostLooks && !signal.aborted; looks++) await sleep(lookMs, signal);
}
