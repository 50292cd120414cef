import { Client } from '../client/client.ts';
import { isMissing } from '../client/errors.ts';
import { placedKinds } from '../cluster/kinds.ts';
import { locatorText } from '../cluster/locator.ts';
import { givenOwnersAnnotation } from '../cluster/names.ts';
import type { Locator } from '../cluster/types.ts';
import { formatApiVersion, groupResource, parseApiVersion } from '../kube/gvk.ts';
import type { Transport } from '../kube/http.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { within } from '../kube/within.ts';
import type { Engine } from './engine.ts';
import { asThere, type Owners } from './owners.ts';
import { ownership } from './ownership.ts';
import type { TargetId } from './target.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const answerMs = 5_000;
/** At once; who gives a pod more waits for the syncer with the rest. */
const mostAsked = 16;

interface Namespace {
  name: string;
  /** Of what is in it, but for the cluster and the object. */
  locator: Omit<Locator, 'syncer'>;
}

/**
 * Of owners that a pod has in its logical cluster those that are in its namespace there, too: only what was made for that very owner is
 * one, whatever else has its name. What is not found here, since it is on its way down or of a kind by a rule, the syncer finds.
 */
export async function ownersThere(
  { transport, uid: syncer }: { transport: Transport; uid: string },
  { name: namespace, locator }: Namespace,
  owners: readonly OwnerReference[],
  signal: AbortSignal,
): Promise<OwnerReference[]> {
  const client = new Client(transport, { userAgent: 'atoll-syncer' });
  const copyOf = async (owner: OwnerReference, soon: AbortSignal): Promise<OwnerReference[]> => {
    const { group } = parseApiVersion(owner.apiVersion);
    const { kind, name, uid } = owner;
    const of = placedKinds.find((one) => one.kind === kind && one.group === group);
    if (!of || !/^[^/%]*[^/%.][^/%]*$/.test(name)) return [];
    try {
      const object = await client.get(of, { namespace, name }, soon);
      const wanted = { ...locator, syncer, resource: groupResource(of), name, uid };
      return ownership(object, wanted) === 'ours' ? [asThere(owner, formatApiVersion(of), object)] : [];
    } catch (error) {
      if (!isMissing(error, name) && !isStatusError(error, 'Forbidden')) throw error;
      return [];
    }
  };
  const asked = owners.slice(0, mostAsked);
  return await within(answerMs, signal, async (soon) =>
    (await Promise.all(asked.map((owner) => copyOf(owner, soon)))).flat(),
  );
}

/** What was noted of a pod's owners, and was not there then. It names the very version that it was read of: they may have been taken away since. */
export async function carryOwners(engine: Engine, owners: Owners, pod: KubeObject): Promise<void> {
  if (pod.metadata.deletionTimestamp) return;
  const missing = await owners.missing(pod);
  const { resourceVersion } = pod.metadata;
  if (missing.length > 0)
    await rewrite(engine, pod, { ...(resourceVersion && { resourceVersion }), ownerReferences: missing });
}

/**
 * Before a workload goes that nobody has deleted, but that is elsewhere: what it leaves there goes with it, whoever else owns that.
 */
export async function leaveOwners(
  engine: Engine,
  owners: Owners,
  id: TargetId,
  given: readonly KubeObject[],
): Promise<void> {
  for (const pod of given) {
    const root = await owners.rootOf(pod);
    if (!root || 'among' in root || root.target !== id) continue;
    const others = owners.beside(pod).map(({ metadata: { uid } }) => ({ $patch: 'delete', uid }));
    const annotations = { [givenOwnersAnnotation]: null };
    await rewrite(engine, pod, { annotations, ...(others.length > 0 && { ownerReferences: others }) });
  }
}

/** The locator of what of ours owns it there and does not control it. */
export function keeperOf(owners: Owners, pod: KubeObject): string | undefined {
  const [owner] = owners.beside(pod);
  return owner && locatorText(owner);
}

/** Of another version the watch tells, and all is looked at again. Where the cluster refuses it, it stays as it is, and all else goes on. */
async function rewrite(
  { client, signal, logger }: Pick<Engine, 'client' | 'signal' | 'logger'>,
  pod: KubeObject,
  change: object,
): Promise<void> {
  const { namespace, name = '', uid } = pod.metadata;
  const metadata = { ...(uid && { uid }), ...change };
  try {
    await client.patch(pods, { namespace, name }, 'strategic', { metadata }, { signal });
  } catch (err) {
    if (!(err instanceof StatusError) || err.code >= 500) throw err;
    logger.debug({ err, namespace, name }, 'the owners of a pod were not changed there');
  }
}
