import { isFinished } from '../cluster/kinds.ts';
import { podReferences } from '../cluster/pod-spec.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Engine } from './engine.ts';
import type { TargetPlace } from './target.ts';

/** The reason of what is being deleted there though it is wanted: somebody's finalizer may keep it for ever. */
export const terminating = 'Terminating';

const claims = 'persistentvolumeclaims';
const pods = { group: '', version: 'v1', resource: 'pods' };
const againMs = { soon: 500, kept: 5_000 };
const mostNamed = 3;
/** Most in a Namespace run. */
const endedOnly = 'status.phase!=Pending,status.phase!=Running';

/** What its user is told of it, and when it is looked at again, should no watch tell before. */
export async function beingDeleted(engine: Engine, place: TargetPlace) {
  const { kind, namespace, name } = place;
  const ended = await keptByEnded(engine, place);
  const isKept = ended.length > 0;
  const words = isKept ? `; pods that have ended keep it until they are deleted: ${ended.join(', ')}` : '';
  const message = `${kind.resource} ${namespace}/${name} is being deleted there, and is made anew when it has gone${words}`;
  return { retryAfter: isKept ? againMs.kept : againMs.soon, why: { reason: terminating, message } };
}

/**
 * Of a claim, those that have used it: while they are there, with what they have logged, no Kubernetes lets it go. Where they cannot be
 * read it is told without them: its user hears what is waited for, and not that.
 */
async function keptByEnded({ client, signal }: Engine, { kind, namespace, name }: TargetPlace) {
  if (kind.group !== '' || kind.resource !== claims) return [];
  const found = client.list(pods, { namespace, fieldSelector: endedOnly, signal });
  const { items } = await found.catch(() => ({ items: [] }));
  const uses = ({ spec }: KubeObject) =>
    podReferences(spec).some((ref) => ref.resource === claims && ref.name === name);
  const ended = items.filter((pod) => isFinished({ kind: 'Pod', status: pod.status }) && uses(pod));
  const names = ended.map(({ metadata }) => metadata.name ?? '').sort();
  return names.slice(0, mostNamed);
}
