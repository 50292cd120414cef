import { child } from '../defaults/fill.ts';
import type { Json, JsonObject, KubeObject } from '../object.ts';
import { at, record, records, text } from '../untyped.ts';
import { appArmorFields } from './app-armor.ts';
import { podQosClass } from './qos.ts';

/** A new Pod's status, the affinity terms that matchLabelKeys stand for, and the profiles that annotations name. */
export function preparePod(object: KubeObject, warn: (message: string) => void): void {
  const status: JsonObject = { phase: 'Pending' };
  if (records(at(object, 'spec', 'schedulingGates')).length > 0) {
    status['conditions'] = [
      {
        type: 'PodScheduled',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: object.metadata.creationTimestamp ?? null,
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ];
  }
  object.status = { ...status, qosClass: podQosClass(object) };
  for (const kind of ['podAffinity', 'podAntiAffinity']) expandLabelKeys(object, kind);
  for (const constraint of records(at(object, 'spec', 'topologySpreadConstraints'))) {
    addLabelKeys(constraint, 'matchLabelKeys', 'In', object.metadata.labels);
  }
  appArmorFields(object, warn);
}

function expandLabelKeys(object: KubeObject, kind: string): void {
  const affinity = at(object, 'spec', 'affinity', kind);
  const preferred = records(at(affinity, 'preferredDuringSchedulingIgnoredDuringExecution'));
  const terms = preferred.map((weighted) => record(weighted['podAffinityTerm']));
  for (const term of [...terms, ...records(at(affinity, 'requiredDuringSchedulingIgnoredDuringExecution'))]) {
    addLabelKeys(term, 'matchLabelKeys', 'In', object.metadata.labels);
    addLabelKeys(term, 'mismatchLabelKeys', 'NotIn', object.metadata.labels);
  }
}

function addLabelKeys(
  term: JsonObject,
  field: string,
  operator: string,
  labels: Record<string, string> | undefined,
): void {
  const keys = term[field];
  if (!Array.isArray(keys) || term['labelSelector'] === undefined) return;
  const selector = child(term, 'labelSelector');
  for (const key of keys) {
    const value = labels && typeof key === 'string' && Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (value === undefined) continue;
    const added: Json = { key, operator, values: [value] };
    selector['matchExpressions'] = [...records(selector['matchExpressions']), added];
  }
}

/** What a kubelet that does not know a field of status leaves out stays as it was. */
export function preparePodStatus(object: KubeObject, old: KubeObject): void {
  const status = child(object as unknown as JsonObject, 'status');
  const before = record(old.status);
  if (!text(status['qosClass']) && before['qosClass'] !== undefined) status['qosClass'] = before['qosClass'];
  if (!status['observedGeneration'] && before['observedGeneration'] !== undefined) {
    status['observedGeneration'] = before['observedGeneration'];
  }
  delete object.metadata.deletionTimestamp;
  if (old.metadata.deletionTimestamp) object.metadata.deletionTimestamp = old.metadata.deletionTimestamp;
}
