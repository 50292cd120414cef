import { validateDns1123Label } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { at, int, records, text } from '../untyped.ts';
import {
  claimWarnings,
  endpointsWarnings,
  nodeWarnings,
  persistentVolumeWarnings,
  quotaWarnings,
  secretWarnings,
  serviceAccountWarnings,
  serviceWarnings,
} from './core.ts';
import type { KindWarnings } from './kind.ts';
import { podWarnings } from './pod.ts';
import { claimSpecWarnings } from './quantity.ts';

function nameWarnings(object: JsonObject, used: string): string[] {
  const messages = validateDns1123Label(text(at(object, 'metadata', 'name')));
  if (messages.length === 0) return [];
  const rule = 'which can result in surprising behavior; a DNS label is recommended';
  return [`metadata.name: this is used in ${used}, ${rule}: [${messages.join(' ')}]`];
}

function changed(object: JsonObject, old: JsonObject | undefined): boolean {
  return old === undefined || at(object, 'metadata', 'generation') !== at(old, 'metadata', 'generation');
}

/** Of a kind with a template at `path`; its name counts on create only. */
function templated(named: boolean, ...path: string[]): KindWarnings {
  return (object, old) => {
    const out = named && old === undefined ? nameWarnings(object, 'Pod names and hostnames') : [];
    return changed(object, old) ? [...out, ...podWarnings(at(object, ...path), path.join('.'))] : out;
  };
}

const ofStatefulSet = templated(false, 'spec', 'template');

function statefulSet(object: JsonObject, old?: JsonObject): string[] {
  const out = ofStatefulSet(object, old);
  for (const [i, claim] of records(at(object, 'spec', 'volumeClaimTemplates')).entries()) {
    const path = `spec.volumeClaimTemplates[${i}]${old === undefined ? '' : '.Spec'}`;
    out.push(...claimSpecWarnings(claim['spec'], path));
  }
  if (int(at(object, 'spec', 'revisionHistoryLimit')) < 0) {
    const rule = 'a negative value retains all historical revisions; a value >= 0 is recommended';
    out.push(`spec.revisionHistoryLimit: ${rule}`);
  }
  return out;
}

function jobSpec(spec: unknown, path: string): string[] {
  const indexed = at(spec, 'completionMode') === 'Indexed';
  const large = int(at(spec, 'completions')) > 100_000 && int(at(spec, 'parallelism')) > 10_000;
  const rule =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  const out = indexed && large ? [`${path}: ${rule}`] : [];
  return [...out, ...podWarnings(at(spec, 'template'), `${path}.template`)];
}

function job(...path: string[]): KindWarnings {
  return (object, old) => {
    const out = old === undefined ? nameWarnings(object, 'Pod names and hostnames') : [];
    if (changed(object, old)) out.push(...jobSpec(at(object, ...path), path.join('.')));
    const schedule = text(at(object, 'spec', 'schedule'));
    if (old !== undefined && path.length > 1 && schedule.includes('TZ')) out.push(zoned);
    return out;
  };
}

const zoned =
  'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details';

/** By `<group>/<kind>`, core's group empty. */
export const workloadWarnings: Readonly<Record<string, KindWarnings>> = {
  '/Pod': (object, old) =>
    old ? [] : [...nameWarnings(object, "the Pod's hostname"), ...podWarnings(object, '')],
  '/PodTemplate': templated(false, 'template'),
  '/ReplicationController': (object, old) => {
    const whole = templated(true, 'spec', 'template');
    // What is warned of on an update is what was there before.
    if (old === undefined) return whole(object, undefined);
    return changed(object, old) ? podWarnings(at(old, 'spec', 'template'), 'spec.template') : [];
  },
  'apps/Deployment': templated(true, 'spec', 'template'),
  'apps/ReplicaSet': templated(true, 'spec', 'template'),
  'apps/DaemonSet': templated(false, 'spec', 'template'),
  'apps/StatefulSet': statefulSet,
  'batch/Job': job('spec'),
  'batch/CronJob': job('spec', 'jobTemplate', 'spec'),
  '/Service': serviceWarnings,
  '/PersistentVolume': persistentVolumeWarnings,
  '/PersistentVolumeClaim': claimWarnings,
  '/Node': nodeWarnings,
  '/ResourceQuota': (object, old) => (old ? [] : quotaWarnings(object)),
  '/ServiceAccount': serviceAccountWarnings,
  '/Endpoints': endpointsWarnings,
  '/Secret': secretWarnings,
};
