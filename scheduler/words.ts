import { placedKind } from '../cluster/kinds.ts';
import { lackOfRoom, lacksCluster, noCluster } from '../cluster/no-room.ts';
import { unsatisfied } from '../cluster/spread.ts';
import type { PlacementSpec } from '../cluster/types.ts';
import type { Word } from '../controller/events.ts';
import { deepEqual } from '../kube/deep.ts';

/** What a decision about a workload has to tell its user: only what it changes. Pure. */
export function wordsOf(before: PlacementSpec | undefined, now: PlacementSpec): Word[] {
  if (placedKind(now.ref)?.role !== 'workload') return [];
  const old = before?.ref.uid === now.ref.uid ? before : undefined;
  const words: Word[] = [];
  const message = refusalOf(now);
  const lacksNoMore = old?.noRoom !== undefined && !now.noRoom;
  const isNew =
    !old ||
    refusalOf(old) !== message ||
    old.blocked !== now.blocked ||
    (now.blocked === true && lacksNoMore);
  // What has no room says itself what speaks against it.
  if (message !== '' && !now.noRoom && isNew)
    words.push({ type: 'Warning', reason: now.blocked ? 'Blocked' : 'Refused', message });
  // What is drained or cordoned lacks no room either, and has none for all that.
  const hasRoom = lacksNoMore && now.blocked !== true && now.filled !== undefined;
  if (now.clusters.length > 0 && (hasRoom || !deepEqual(old?.clusters ?? [], now.clusters)))
    words.push({ type: 'Normal', reason: 'Placed', message: placedOn(now) });
  const missing = missingOf(now);
  if (missing !== undefined && missing !== (old && missingOf(old)))
    words.push({ type: 'Warning', reason: 'SpreadUnsatisfied', message: missing });
  const lacking = lackOfRoom(now);
  // How much it is changes with each neighbour: the condition tells that.
  const isSaid = old?.noRoom !== undefined && deepEqual(old.noRoom.on, now.noRoom?.on);
  if (lacking !== undefined && !isSaid) words.push({ type: 'Warning', reason: 'NoRoom', message: lacking });
  return words;
}

function placedOn({ clusters, reasons = {} }: PlacementSpec): string {
  return clusters.map((name) => `${name}: ${reasons[name] ?? 'chosen'}`).join('; ');
}

function missingOf({ spread }: PlacementSpec): string | undefined {
  return spread && unsatisfied(spread);
}

/** What speaks against each cluster that was asked for, or, where it is nowhere or blocked, against any. */
function refusalOf(spec: PlacementSpec): string {
  if (lacksCluster(spec)) return noCluster;
  const { clusters, wanted = [], reasons = {}, blocked } = spec;
  const all = blocked || clusters.length === 0 ? Object.keys(reasons) : wanted;
  const refused = all.filter((name) => blocked || !clusters.includes(name)).sort();
  return refused.map((name) => `${name}: ${reasons[name] ?? 'not chosen'}`).join('; ');
}
