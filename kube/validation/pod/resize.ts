import { sameJson } from '../../deep.ts';
import type { JsonObject } from '../../object.ts';
import { podQosClass } from '../../strategy/qos.ts';
import { at, isRecord, record, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import type { SubresourceCheck } from '../kind.ts';
import { podAsItIs } from './index.ts';

/** https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/ */
export const resize: SubresourceCheck = (object, old, root) => {
  podAsItIs(object, root);
  const spec = root.child('spec');
  const [now, before] = [record(object.spec), record(old.spec)];
  const qosClass = text(at(old, 'status', 'qosClass')) || podQosClass(old);
  if (podQosClass(object) !== qosClass)
    spec.invalid(qosClass, 'Pod QOS Class may not change as a result of resizing');
  podLevel(now['resources'], before['resources'], spec);
  const sameLists = lists.map((list) => sameContainers(now[list], before[list], list, spec));
  if (sameLists.includes(false)) return;
  // The order of Kubernetes' own checks: what is gone, of init containers first, then what is no amount.
  for (const list of [...lists].reverse())
    for (const [i, container] of records(before[list]).entries())
      gone(
        record(records(now[list])[i])['resources'],
        container['resources'],
        removedWords,
        spec.child(list).index(i).child('resources'),
      );
  for (const [i, container] of records(before['containers']).entries()) {
    if (sameButAmounts(record(records(now['containers'])[i]), container)) continue;
    spec.forbidden('only cpu and memory resources are mutable');
  }
  for (const [i, container] of records(before['initContainers']).entries())
    initContainer(
      record(records(now['initContainers'])[i]),
      container,
      spec.child('initContainers').index(i),
    );
};

const lists = ['containers', 'initContainers'] as const;

function sameContainers(now: unknown, before: unknown, list: string, spec: Field): boolean {
  const [given, old] = [records(now), records(before)];
  const field = spec.child(list);
  if (given.length !== old.length) {
    field.forbidden(`${list} may not be added or removed on resize`);
    return false;
  }
  const renamed = old.flatMap(({ name }, i) => (given[i]?.['name'] === name ? [] : [i]));
  for (const i of renamed)
    field.index(i).child('name').forbidden(`${list} may not be renamed or reordered on resize`);
  return renamed.length === 0;
}

const removedWords = (kind: string) => `resource ${kind} cannot be removed`;

function gone(now: unknown, before: unknown, words: (kind: string) => string, field: Field): void {
  for (const kind of ['requests', 'limits']) {
    const given = record(at(now, kind));
    if (Object.keys(record(at(before, kind))).every((name) => Object.hasOwn(given, name))) continue;
    field.child(kind).forbidden(words(kind));
  }
}

function podLevel(now: unknown, before: unknown, spec: Field): void {
  const isSet = (resources: unknown) =>
    ['requests', 'limits'].some((kind) => Object.keys(record(at(resources, kind))).length > 0);
  if (!isSet(now) && !isSet(before)) return;
  const field = spec.child('resources');
  if (isRecord(before) && !isRecord(now)) {
    field.forbidden('pod-level resources cannot be removed');
    return;
  }
  gone(now, before, (kind) => `pod-level resource ${kind} cannot be removed`, field);
  if (sameJson(otherAmounts(now), otherAmounts(before))) return;
  spec.forbidden('only cpu and memory resources are mutable at pod-level');
}

function initContainer(now: JsonObject, before: JsonObject, field: Field): void {
  if (!sameButAmounts(now, before))
    field.forbidden('only cpu and memory resources for init or sidecar containers are mutable');
  if (now['restartPolicy'] === 'Always' || sameJson(now, before)) return;
  for (const { restartPolicy } of records(now['resizePolicy'])) {
    if (restartPolicy !== 'RestartContainer') continue;
    const why = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized';
    field.forbidden(why);
  }
}

/** Of a container that has claims Kubernetes takes no other amounts. */
function sameButAmounts(now: JsonObject, before: JsonObject): boolean {
  const { resources: given, ...rest } = now;
  const { resources: old, ...others } = before;
  const isClaimed = records(at(old, 'claims')).length > 0;
  return sameJson(rest, others) && !isClaimed && sameJson(otherAmounts(given), otherAmounts(old));
}

/** What neither the processor nor memory is. */
function otherAmounts(resources: unknown): unknown {
  return ['requests', 'limits'].map((kind) =>
    Object.entries(record(at(resources, kind))).filter(([name]) => name !== 'cpu' && name !== 'memory'),
  );
}
