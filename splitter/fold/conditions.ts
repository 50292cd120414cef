import { at, listAt, textAt } from '../../cluster/read.ts';
import type { FoldPart } from './part.ts';

interface Said {
  type: string;
  status: string;
  cluster: string;
  fields: Record<string, string>;
}

const kept = ['lastTransitionTime', 'lastUpdateTime', 'lastProbeTime', 'lastHeartbeatTime'] as const;
/** Conditions of which True is the bad news. */
const negative =
  /(Failure|Failed|FailureTarget|Pressure|Unavailable|ScalingLimited|Disrupted|DisruptionTarget)$/;
const typeLimit = 32;
const messageLimit = 1024;

/**
 * One condition per type: the worst that any target says, with that target's name in the message when there are
 * several. Good news (Available=True) needs every staying target: one that has not said it counts as Unknown.
 */
export function foldConditions(parts: readonly FoldPart[]): Record<string, unknown>[] {
  const staying = parts.filter((part) => part.share.phase !== 'Leaving');
  const speaking = staying.length > 0 ? staying : parts;
  const types = new Set<string>();
  const said = new Map<string, Said>();
  for (const part of speaking) {
    for (const one of read(part)) {
      types.add(one.type);
      said.set(`${part.cluster}/${one.type}`, one);
    }
  }
  return [...types]
    .sort()
    .slice(0, typeLimit)
    .map((type) => worst(type, speaking, said));
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
      return [{ type, status, cluster: part.cluster, fields: Object.fromEntries(pairs) }];
    });
}

function worst(
  type: string,
  parts: readonly FoldPart[],
  said: ReadonlyMap<string, Said>,
): Record<string, unknown> {
  const badness = (status: string) => {
    const bad = negative.test(type) ? 'True' : 'False';
    return status === bad ? 2 : status === 'Unknown' ? 1 : 0;
  };
  const all = parts.flatMap((part) => said.get(`${part.cluster}/${type}`) ?? []);
  const [first] = [...all].sort(
    (a, b) => badness(b.status) - badness(a.status) || latestFirst(a, b) || (a.cluster < b.cluster ? -1 : 1),
  );
  if (!first) return { type, status: 'Unknown' };
  const silent = negative.test(type) ? [] : parts.filter((part) => !said.has(`${part.cluster}/${type}`));
  if (badness(first.status) === 0 && silent.length > 0) {
    const waiting = silent.map((part) => part.cluster).join(', ');
    return {
      type,
      ...first.fields,
      status: 'Unknown',
      reason: 'WaitingForClusters',
      message: `not reported by ${waiting} yet`,
    };
  }
  const prefix = parts.length > 1 && badness(first.status) > 0 ? `${first.cluster}: ` : '';
  const message = first.fields['message'];
  return {
    type,
    status: first.status,
    ...first.fields,
    ...(message !== undefined && { message: prefix + message }),
  };
}

function latestFirst(a: Said, b: Said): number {
  return (b.fields['lastTransitionTime'] ?? '').localeCompare(a.fields['lastTransitionTime'] ?? '');
}
