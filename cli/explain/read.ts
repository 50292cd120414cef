import type { Client } from '../../client/client.ts';
import { refKey } from '../../cluster/closure.ts';
import { placedKind } from '../../cluster/kinds.ts';
import { placementName } from '../../cluster/placement.ts';
import type { ObjectRef, Placement } from '../../cluster/types.ts';
import { groupResource } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { getOwn } from '../../kube/untyped.ts';
import { isUncopied } from '../../scheduler/along.ts';
import type { Place } from '../connection.ts';
import { FailedError } from '../errors.ts';
import { placements } from '../resources.ts';
import type { GivenUp } from './told.ts';

export async function orWhyNot<T extends KubeObject>(read: Promise<T>): Promise<T | 'absent' | 'forbidden'> {
  try {
    return await read;
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return 'absent';
    if (isStatusError(error, 'Forbidden')) return 'forbidden';
    throw error;
  }
}

/** Without the object there is nothing to tell; a role that may read it is enough, and no administrator's kubeconfig is needed. */
export async function orWhoHelps<T>(read: Promise<T>, { cluster, namespace }: Place): Promise<T> {
  try {
    return await read;
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
    const user = /User "([\w.@:-]+)"/.exec(error.message)?.[1] ?? 'USER';
    const { group = '', kind: resource = '' } = error.details ?? {};
    const bind = (role: string) => `kubectl create rolebinding NAME --${role} --user ${user} -n ${namespace}`;
    const role = `kubectl create role NAME --verb get --resource ${groupResource({ group, resource })} -n ${namespace}`;
    const [enough, gives] = isViewed(group, resource)
      ? ['the ClusterRole view', bind('clusterrole view')]
      : ['a role that may get it', `${role} and ${bind('role NAME')}`];
    throw new FailedError(
      `${error.message}: ${enough} is enough; whoever administers ${cluster} gives it: ${gives}`,
    );
  }
}

/** Whether the default ClusterRole `view` is for it; what is aggregated to that is not known here. */
function isViewed(group: string, resource: string): boolean {
  return resource !== 'secrets' && viewed.has(group);
}

const viewed = new Set([
  '',
  'apps',
  'autoscaling',
  'batch',
  'discovery.k8s.io',
  'networking.k8s.io',
  'policy',
]);

/** None where they may not be read. */
export async function orNone<T extends KubeObject>(read: Promise<{ items: T[] }>): Promise<T[]> {
  try {
    return (await read).items;
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return [];
    throw error;
  }
}

const claimKind = { group: '', version: 'v1', resource: 'persistentvolumeclaims' };
/** Of one object: nobody reads of more. */
const mostClaims = 50;

/** Of a claim its own, of a workload those of the claims that it uses: whose data is where it is not needed any more, by whose word. */
export async function givenUpOf(
  client: Client,
  object: KubeObject,
  placement: Placement,
): Promise<{ givenUp: GivenUp[]; unread: number }> {
  const { namespace = '' } = object.metadata;
  const { ref, requires = [] } = placement.spec ?? {};
  const isClaim = ref?.resource === claimKind.resource && ref.group === '';
  const used = requires.filter(({ resource, group }) => resource === claimKind.resource && group === '');
  const read = <T extends KubeObject>(kind: typeof claimKind, name: string) =>
    orWhyNot(client.get<T>(kind, { namespace, name }));
  const records = isClaim
    ? [placement]
    : await Promise.all(
        used
          .slice(0, mostClaims)
          .map(({ name }) => read<Placement>(placements, placementName({ ...claimKind, name }))),
      );
  const unread = isClaim ? 0 : Math.max(0, used.length - mostClaims);
  const given = records.filter((record) => typeof record !== 'string' && record.spec?.givenUp !== undefined);
  if (given.length === 0) return { givenUp: [], unread };
  const all = await orNone(client.list<Placement>(placements, { namespace }));
  const refs = new Map(
    all.flatMap(({ spec }): [string, ObjectRef][] => (spec ? [[spec.ref.uid, spec.ref]] : [])),
  );
  const giver = async (uid: string): Promise<GivenUp['by'][number]> => {
    const of = refs.get(uid);
    if (!of) return { name: 'others' };
    const found = uid === object.metadata.uid ? object : await read({ ...(placedKind(of) ?? of) }, of.name);
    return { name: refKey(of), ...(typeof found !== 'string' && { object: found }) };
  };
  const each = (given as Placement[]).map(async ({ spec }) => {
    const claim = isClaim ? object : await read(claimKind, spec?.ref.name ?? '');
    if (typeof claim === 'string') return [];
    const by = Object.entries(spec?.givenUp ?? {}).map(async ([cluster, uids]): Promise<GivenUp> => {
      const uncopied = getOwn(spec?.reasons ?? {}, cluster) === isUncopied;
      return { claim, cluster, by: await Promise.all(uids.map(giver)), ...(uncopied && { uncopied }) };
    });
    return await Promise.all(by);
  });
  return { givenUp: (await Promise.all(each)).flat(), unread };
}
