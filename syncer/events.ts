import { placedKinds } from '../cluster/kinds.ts';
import type { ObjectRef } from '../cluster/types.ts';
import { groupResource, parseApiVersion } from '../kube/gvk.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Engine } from './engine.ts';
import { type Prospect, Reflector, type ToReflection } from './reflector.ts';
import { targetId } from './target.ts';

/** An event that is older says nothing about now: a syncer that starts does not bring up the past. */
const maxEventAgeMs = 3_600_000;

interface About {
  involvedObject?: { apiVersion?: string; kind?: string; namespace?: string; name?: string };
  message?: string;
}

/** `among`: those that show what events may be about. */
export function eventReflector(engine: Engine, among: readonly Shows[]): Reflector {
  return new Reflector(engine, 'events', eventOf(engine.name), (event) => prospectOf(engine, among, event));
}

type Shows = Pick<Reflector, 'resource' | 'uidOf' | 'mayHave'>;

/**
 * A logical cluster takes an event about what this cluster has a share of there, or shows: apiserver/view/reflected-event.ts. What is there may be shown
 * next; what is not has most often gone, and late words about it, as of a pod that was killed, nobody takes any more.
 */
export function prospectOf(
  { shares }: Pick<Engine, 'shares'>,
  among: readonly Shows[],
  event: KubeObject,
): Prospect {
  const { namespace = '' } = event.metadata;
  const { apiVersion = '', kind, name = '' } = (event as unknown as About).involvedObject ?? {};
  const { group } = parseApiVersion(apiVersion);
  const of = placedKinds.find((one) => one.kind === kind && one.group === group);
  if (!of) {
    const ruled = shares
      .byIndex('namespace', namespace)
      .flatMap(({ spec }) => (spec?.ref.rule && isOfKind(spec.ref, group, kind) ? [spec.ref] : []));
    if (ruled.length === 0) return 'never';
    return ruled.some((ref) => ref.name === name) ? 'now' : 'soon';
  }
  if (!shares.hasIndexed('namespace', namespace)) return 'never';
  if (shares.hasIndexed('target', targetId(of, namespace, name))) return 'now';
  const key = `${namespace}/${name}`;
  const showing = among.filter(({ resource }) => resource === groupResource(of));
  if (showing.some((one) => one.uidOf(key) !== undefined)) return 'now';
  return showing.some((one) => one.mayHave(key)) ? 'later' : 'soon';
}

function isOfKind(ref: ObjectRef, group: string, kind: string | undefined): boolean {
  return ref.kind === kind && ref.group === group;
}

/** What several clusters have of one object would look as if it happened twice: their events say where. */
const eventOf =
  (cluster: string): ToReflection =>
  async (_key, event, place) => {
    const { namespace = '', name = '', labels, creationTimestamp } = event?.metadata ?? {};
    if (!event || !place) return undefined;
    const { involvedObject, message } = event as unknown as About;
    if (involvedObject?.namespace !== namespace || ageOf(event) > maxEventAgeMs) return undefined;
    return {
      ...event,
      metadata: { name, ...(labels && { labels }), ...(creationTimestamp && { creationTimestamp }) },
      involvedObject: { ...involvedObject, namespace: place.namespace },
      // Messages name objects by namespace/name.
      ...(message && {
        message: `${involvedObject.kind === 'Pod' ? '' : `[${cluster}] `}${message.replaceAll(`${namespace}/`, `${place.namespace}/`)}`,
      }),
    };
  };

function ageOf(event: KubeObject): number {
  const times = [event['lastTimestamp'], event['eventTime'], event.metadata.creationTimestamp];
  const last = times.find((time) => typeof time === 'string') as string | undefined;
  return last === undefined ? 0 : Date.now() - Date.parse(last);
}
