import type { ResourceRef } from '../client/url.ts';
import { letGoAnnotation, locatorAnnotation } from '../cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { logicalNamespace } from './cleanup.ts';
import { type Engine, shareFor } from './engine.ts';
import { isOurs } from './leave.ts';
import { type Former, ownership } from './ownership.ts';
import { targetId } from './target.ts';

/**
 * Of the PhysicalCluster's uid, and those that it takes over, where what is upstream was put back from a backup since the cluster was met last: what says that it
 * has been met by now. Undefined: it was not put back, or has met it.
 */
export type FirstMeeting = (uid: string, former: Former) => Promise<(() => Promise<void>) | undefined>;

const namespaces: ResourceRef = { group: '', version: 'v1', resource: 'namespaces' };

/**
 * Of what was made since a backup, nothing upstream knows once that was put back: which is not to say that anybody deleted it.
 * When the cluster is met for the first time then, the namespaces of such Namespaces are let go with all that is in them, which
 * runs on, and so are claims in other namespaces: data is nowhere else. They are nobody's from then on. Has to be over before
 * anything of ours is removed here. It may be done twice, and is, where the cluster would not have one of them marked: that one is
 * left alone, and nothing else waits for it.
 */
export async function letGoUnknown(engine: Engine, firstMeeting?: FirstMeeting): Promise<void> {
  const met = await firstMeeting?.(engine.uid, engine.former);
  if (met === undefined) return;
  let isSaid = true;
  for (const { metadata } of engine.namespaces.informer.list()) {
    const name = metadata.name ?? '';
    const own = engine.namespaces.own(name);
    if (!own) continue;
    if ((await logicalNamespace(engine, own.locator)) !== 'gone') {
      for (const [kind, claim] of unknownClaims(engine, name))
        isSaid = (await letGo(engine, kind, claim)) && isSaid;
    } else if (!own.object.metadata.deletionTimestamp)
      isSaid = (await letGo(engine, namespaces, own.object)) && isSaid;
  }
  if (isSaid) await met();
}

/** Also those of which another one is wanted by now, of the same name: it would take their place. */
function unknownClaims(engine: Engine, namespace: string): [ResourceRef, KubeObject][] {
  return [...engine.physical.inNamespace(namespace)].flatMap(({ kind, object }) => {
    const id = targetId(kind, namespace, object.metadata.name ?? '');
    if (kind.resource !== 'persistentvolumeclaims' || object.metadata.deletionTimestamp) return [];
    const locator = shareFor(engine, id)?.spec?.locator;
    const isKnown = locator && ownership(object, locator, engine.former) === 'ours';
    return isKnown || !isOurs(engine, id, object) ? [] : [[kind, object]];
  });
}

/** False: it bears no word of it yet. */
async function letGo(
  { client, namespaces: { letGo: all }, signal, logger }: Engine,
  kind: ResourceRef,
  { metadata }: KubeObject,
): Promise<boolean> {
  const { name = '', namespace, uid = '' } = metadata;
  const annotations = {
    [locatorAnnotation]: null,
    [letGoAnnotation]: metadata.annotations?.[locatorAnnotation],
  };
  const body = { metadata: { uid, annotations } };
  const of = { resource: kind.resource, namespace, name };
  // The watch may be late.
  all.add(uid);
  try {
    await client.patch(kind, { namespace, name }, 'merge', body, { signal });
    logger.warn(of, 'the backup that was restored knows nothing of this: it is let go, and stays');
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    if (isStatusError(error, 'NotFound')) return true;
    logger.warn(
      { ...of, err: error },
      'the backup that was restored knows nothing of this, and it cannot be marked as let go: it is left alone',
    );
    return false;
  }
  return true;
}
