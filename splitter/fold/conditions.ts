import { at, listAt, textAt } from '../../kube/untyped.ts';
import { isGoing } from '../traffic.ts';
import type { FoldPart } from './part.ts';
import { silentReason } from './silent.ts';

interface Said {
  type: string;
  status: string;
  cluster: string;
  fields: Record<string, string>;
}

const kept = ['lastTransitionTime', 'lastUpdateTime', 'lastProbeTime', 'lastHeartbeatTime'] as const;
/** Conditions of which True is the bad news, or says that something is still to come. */
const negative =
  /(Failure|Failed|FailureTarget|Pressure|Unavailable|ScalingLimited|Disrupted|DisruptionTarget|Resizing|ResizePending|ResizeError|ModifyingVolume|ModifyVolumeError)$/;
/** An end that was reached stays reached. */
const lasting = new Set(['Complete', 'SuccessCriteriaMet']);
/** Some cluster has yet to speak. */
export const waitingForClusters = 'WaitingForClusters';
const typeLimit = 32;
const messageLimit = 1024;

/**
 * One condition per type: the worst that any target says, with the names of those that say it in the message when
 * there are several. Good news (Available=True) needs every staying target: one that has not said it, or is not heard
 * of, counts as Unknown.
 */
export function foldConditions(parts: readonly FoldPart[]): Record<string, unknown>[] {
  const staying = parts.filter((part) => !isGoing(part.share));
  const speaking = staying.length > 0 ? staying : parts;
  const types = new Set<string>();
  const said = new Map<string, Said>();
  for (const part of speaking) {
    for (const one of read(part)) {
      types.add(one.type);
      said.set(`${part.cluster}/${one.type}`, one);
    }
  }
  return [...types].slice(0, typeLimit).map((type) => worst(type, speaking, said));
}

function read(part: FoldPart): Said[] {
  return listAt(part.status, 'conditions')
    .slice(0, typeLimit)
    .flatMap((condition) => {
      const type = textAt(condition, 'type');
      const status = at(condition, 'status');
      if (!type || type.length > 316) return [];
      if (status !== 'True' && status !== 'False' && status !== 'Unknown') return [];
      const pairs = [...kept, 'reason', 'message'].flatMap((field): [string, string][] => {
        const value = textAt(condition, field);
        return value === undefined ? [] : [[field, value.slice(0, messageLimit)]];
      });
      const fields = Object.fromEntries(pairs);
      const { silence, cluster } = part;
      if (!silence || lasting.has(type)) return [{ type, status, cluster, fields }];
      if (negative.test(type)) return [];
      const { since, words } = silence;
      const unknown = { ...fields, reason: silentReason, message: words };
      const lastTransitionTime = since && { lastTransitionTime: since };
      return [{ type, status: 'Unknown', cluster, fields: { ...unknown, ...lastTransitionTime } }];
    });
}

function worst(
  type: string,
  parts: readonly FoldPart[],
  said: ReadonlyMap<string, Said>,
): Record<string, unknown> {
  const all = parts.flatMap((part) => said.get(`${part.cluster}/${type}`) ?? []);
  const [first] = [...all].sort(
    (a, b) => badness(b) - badness(a) || latestFirst(a, b) || (a.cluster < b.cluster ? -1 : 1),
  );
  if (!first) return { type, status: 'Unknown' };
  const silent = negative.test(type) ? [] : parts.filter((part) => !said.has(`${part.cluster}/${type}`));
  if (badness(first) === 0 && silent.length > 0) {
    const waiting = silent.map((part) => part.cluster).join(', ');
    return {
      type,
      ...first.fields,
      status: 'Unknown',
      reason: waitingForClusters,
      message: `not reported by ${waiting} yet`,
    };
  }
  return { type, status: first.status, ...first.fields, ...messageOf(first, parts.length, all) };
}

function badness({ type, status }: Said): number {
  const bad = negative.test(type) ? 'True' : 'False';
  return status === bad ? 2 : status === 'Unknown' ? 1 : 0;
}

/** Bad news says whose it is; of a silence its own words do. */
function messageOf(first: Said, parts: number, all: readonly Said[]): { message?: string } {
  const { message, reason } = first.fields;
  if (message === undefined) return {};
  if (message === '' || parts === 1 || badness(first) === 0 || reason === silentReason) return { message };
  const same = all.filter((one) => one.status === first.status && one.fields['message'] === message);
  const clusters = same.map(({ cluster }) => cluster).sort();
  return { message: `${clusters.join(', ')}: ${message}` };
}

function latestFirst(a: Said, b: Said): number {
  return (b.fields['lastTransitionTime'] ?? '').localeCompare(a.fields['lastTransitionTime'] ?? '');
}
