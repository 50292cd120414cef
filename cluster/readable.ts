import { groupResource } from '../kube/gvk.ts';
import { conditionOf } from './life.ts';
import type { Condition, PhysicalCluster } from './types.ts';

/** Why a kind is not read there: by right, for its length, or since no list or watch of it is answered. */
export type Unread = 'Forbidden' | 'Endless' | 'Unanswered';

/** In this order; in front of the kinds. */
const words: Readonly<Record<Unread, string>> = {
  Forbidden: 'may not list ',
  Endless: 'no list ends of ',
  Unanswered: 'no list is answered of ',
};
const causes = Object.keys(words) as Unread[];

/** The condition `Readable`, of the kinds that are not read there, as `ingresses.networking.k8s.io`. */
export function readability(
  kinds: Readonly<Partial<Record<Unread, readonly string[]>>>,
): Pick<Condition, 'status' | 'reason' | 'message'> {
  const [reason] = causes.filter((why) => kinds[why]?.length);
  if (reason === undefined)
    return { status: 'True', reason: 'Allowed', message: 'every kind in use may be read' };
  const said = causes.flatMap((why) => (kinds[why]?.length ? [`${words[why]}${kinds[why].join(', ')}`] : []));
  return { status: 'False', reason, message: said.join('; ') };
}

/** What that says of one kind, for whatever reason but `except`: of one that is not readable, what the cluster has is not known. */
export function isReadable(
  cluster: PhysicalCluster | undefined,
  kind: { group: string; resource: string },
  except?: Unread,
): boolean {
  const said = cluster && conditionOf(cluster, 'Readable');
  if (said?.status !== 'False') return true;
  return !said.message.split('; ').some((part) => {
    const why = causes.find((one) => one !== except && part.startsWith(words[one]));
    return why !== undefined && part.slice(words[why].length).split(', ').includes(groupResource(kind));
  });
}
