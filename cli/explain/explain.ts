import type { Client } from '../../client/client.ts';
import type { ResourceRef } from '../../client/url.ts';
import { refKey } from '../../cluster/closure.ts';
import { type PlacedKind, placedKind } from '../../cluster/kinds.ts';
import { placementName } from '../../cluster/placement.ts';
import { reflectedFrom } from '../../cluster/reflected.ts';
import type { Placement } from '../../cluster/types.ts';
import { isCopyOf, type VolumeCopy } from '../../cluster/volume-copy.ts';
import { groupResource } from '../../kube/gvk.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { listAt, textAt } from '../../kube/untyped.ts';
import type { Place } from '../connection.ts';
import { FailedError } from '../errors.ts';
import { type OutputFormat, print, printJson } from '../output.ts';
import { namespaces, placements, volumeCopies } from '../resources.ts';
import type { Named } from './kinds.ts';
import { podSelectorOf } from './pods.ts';
import { givenUpOf, orNone, orWhoHelps, orWhyNot } from './read.ts';
import { storyOf, storyText } from './story.ts';
import type { Told } from './told.ts';

const core = { group: '', version: 'v1' };
const pods = { ...core, resource: 'pods' };
const persistentVolumeClaims = { ...core, resource: 'persistentvolumeclaims' };
const events = { ...core, resource: 'events' };

/**
 * Tells where an object is, who asked for that, and what it waits for. All is read as whoever asks: what they may not
 * read is left out, and said to be. Throws a FailedError where they may not read the object, a StatusError where there is none.
 */
export async function explain(
  client: Client,
  named: Named,
  where: Place,
  output: OutputFormat,
): Promise<void> {
  const { cluster, namespace } = where;
  const there = client.with({ cluster });
  const { name } = named;
  const kind =
    named.kind.version === '' ? await orWhoHelps(kindPlaced(there, named, namespace), where) : named.kind;
  const read = there.get(kind, { namespace, name }).catch(notThere(kind, cluster, namespace));
  const object = await orWhoHelps(read, where);
  const record = placementName({ ...kind, name });
  const isSet = kind.kind === 'StatefulSet';
  const [home, placement, running, claims, copies] = await Promise.all([
    orWhyNot(there.get(namespaces, { name: namespace })),
    orWhyNot(there.get<Placement>(placements, { namespace, name: record })),
    podsOf(there, object, namespace),
    isSet ? orNone(there.list(persistentVolumeClaims, { namespace })) : [],
    isSet ? orNone(there.list<VolumeCopy>(volumeCopies, { namespace })) : [],
  ]);
  const told: Told = {
    kind,
    logicalCluster: cluster,
    object,
    namespace: typeof home === 'string' ? undefined : home,
    placement,
    users: kind.role === 'closure' ? await usersOf(there, { kind, name }, namespace) : [],
    pods: running,
    ...(typeof placement === 'string'
      ? { givenUp: [], unread: 0 }
      : await givenUpOf(there, object, placement)),
    copies: copies.filter((copy) => isCopyOf(copy, object.metadata.uid)),
    claims,
    inUse: claims.length > 0 ? await claimsInUse(there, namespace) : new Map(),
    events: placement === 'forbidden' ? await eventsOf(there, object, namespace) : [],
  };
  const story = storyOf(told);
  if (output === 'json') printJson(story);
  else print(storyText(story));
}

/** The one that was meant, by its Placement: whole names are asked for, others looked for. Fails where no rule has placed it. */
async function kindPlaced(client: Client, { kind, name }: Named, namespace: string): Promise<PlacedKind> {
  const record = { namespace, name: placementName({ ...kind, name }) };
  const whole = kind.group === '' ? undefined : client.get<Placement>(placements, record);
  const found = await whole?.catch((error: unknown) => {
    if (!isStatusError(error, 'NotFound')) throw error;
    return undefined;
  });
  const { spec } = found ?? (await placedAs(client, { kind, name }, namespace));
  return (spec && placedKind(spec.ref)) ?? kind;
}

/** By its plural or its kind, with or without its group. */
async function placedAs(client: Client, { kind, name }: Named, namespace: string): Promise<Placement> {
  const { items } = await client.list<Placement>(placements, { namespace });
  const matching = items.filter(({ spec }) => {
    const { ref } = spec ?? {};
    if (ref?.name !== name || (kind.group !== '' && ref.group !== kind.group)) return false;
    return [ref.resource, ref.kind.toLowerCase()].includes(kind.resource);
  });
  const [only, ...others] = matching;
  if (only && others.length === 0) return only;
  const resource = groupResource(kind);
  if (only) {
    const which = matching.flatMap(({ spec }) => (spec ? [`${groupResource(spec.ref)}/${name}`] : []));
    throw new FailedError(`${resource}/${name} may be ${which.sort().join(' or ')}: say which`);
  }
  throw new FailedError(
    `${resource}/${name} in ${namespace} is placed nowhere, or is not there: custom resources are placed where a rule says so (kubectl get placedresources${kind.group === '' ? '' : ` ${resource}`} in root)`,
  );
}

async function podsOf(client: Client, object: KubeObject, namespace: string): Promise<KubeObject[]> {
  const labelSelector = podSelectorOf(object);
  return labelSelector === undefined ? [] : await orNone(client.list(pods, { namespace, labelSelector }));
}

/** The workloads whose Placements say that they need it. */
async function usersOf(client: Client, { kind, name }: Named, namespace: string): Promise<string[]> {
  const all = await orNone(client.list<Placement>(placements, { namespace }));
  const key = refKey({ ...kind, name });
  return all
    .flatMap(({ spec }) => (spec?.requires?.some((ref) => refKey(ref) === key) ? [refKey(spec.ref)] : []))
    .sort();
}

/** By cluster, the claims of the pods that are there. */
async function claimsInUse(client: Client, namespace: string): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  for (const pod of await orNone(client.list(pods, { namespace })))
    for (const cluster of reflectedFrom(pod))
      for (const volume of listAt(pod, 'spec', 'volumes')) {
        const name = textAt(volume, 'persistentVolumeClaim', 'claimName');
        if (name !== undefined) found.set(cluster, (found.get(cluster) ?? new Set()).add(name));
      }
  return found;
}

/** What the scheduler and the splitter have said of it, the latest last. */
async function eventsOf(client: Client, { metadata }: KubeObject, namespace: string): Promise<string[]> {
  const fieldSelector = `involvedObject.uid=${metadata.uid}`;
  const all = await orNone(client.list(events, { namespace, fieldSelector }));
  const when = (event: KubeObject) => textAt(event, 'lastTimestamp') ?? '';
  return all
    .filter((event) => (textAt(event, 'reportingComponent') ?? '').startsWith('atoll-'))
    .sort((a, b) => when(a).localeCompare(when(b)))
    .slice(-mostEvents)
    .map((event) => `${textAt(event, 'reason')}: ${textAt(event, 'message')}`);
}

const mostEvents = 10;

/** A name that is right in another place is not found in this one. */
function notThere(kind: ResourceRef, cluster: string, namespace: string): (error: unknown) => never {
  return (error) => {
    if (!isStatusError(error, 'NotFound')) throw error;
    // Without a name it is the path that leads nowhere.
    if (error.details?.name === undefined)
      throw new FailedError(`there is no logical cluster ${cluster}, or it serves no ${groupResource(kind)}`);
    throw new FailedError(
      `${error.message} in ${cluster}/${namespace}: -n and --logical-cluster name another place`,
    );
  };
}
