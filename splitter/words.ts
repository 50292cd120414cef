import { placedKind } from '../cluster/kinds.ts';
import { podRefusal } from '../cluster/pod-admission.ts';
import { makesNone } from '../cluster/pod-spec.ts';
import type { Silence } from '../cluster/silence.ts';
import type { Placement } from '../cluster/types.ts';
import type { Word } from '../controller/events.ts';
import type { KubeObject } from '../kube/object.ts';
import { deletionWords, goesWithout, waitingWords } from './conditions.ts';
import { silentReason } from './fold/silent.ts';
import { type Handover, notHeld } from './handover.ts';
import { paused, waitingReason } from './hold.ts';
import { onceWords } from './once-words.ts';
import type { Shares } from './plan.ts';
import { applyFailed, failureWords, givingOf } from './said.ts';

/** Of where it comes to. */
export const joining = 'Joining';

/**
 * What a step of the hand-over has to tell the workload's user: who joins, whom it waits for, and that it is over. `silenceAt`, of what is
 * deleted and still here: which cluster does not answer. `once`: it may not run twice. Pure.
 */
export function wordsOf(
  placement: Placement,
  shares: Shares,
  hold: Handover['hold'] = notHeld,
  silenceAt?: (cluster: string) => Silence | undefined,
  once = false,
): Word[] {
  const { spec } = placement;
  if (!spec || placedKind(spec.ref)?.role !== 'workload') return [];
  const before = spec.shares ?? {};
  const newcomers = names(shares).filter(
    (name) => shares[name]?.phase === 'Joining' && before[name]?.phase !== 'Joining',
  );
  const words = newcomers.map((name): Word => {
    const { replicas, settled } = shares[name] ?? {};
    const count = replicas === undefined ? '' : ` ${settled?.replicas ?? 0}/${replicas}`;
    return { type: 'Normal', reason: joining, message: `${name}${count}${meanwhile(shares, name, once)}` };
  });
  words.push(...waits(placement, shares, hold), ...silences(placement, shares, silenceAt));
  const left = names(before).filter((name) => !Object.hasOwn(shares, name));
  const here = names(shares).filter((name) => shares[name]?.phase !== 'Leaving');
  if (left.length > 0 && here.length > 0)
    words.push({
      type: 'Normal',
      reason: 'Moved',
      message: `${left.join(', ')} left; it is on ${here.join(', ')}`,
    });
  return words;
}

/** Told when the wait begins, when nothing but the user may end it, and when it was in vain. */
function waits({ spec, status }: Placement, shares: Shares, hold: Handover['hold']): Word[] {
  const stays = givingOf(shares, spec?.clusters ?? []).join(', ');
  const { held, without, until } = hold;
  if (held.length > 0 && !held.includes(paused)) {
    const said = status?.conditions?.find(({ type }) => type === 'Settled');
    const isTold =
      said?.reason === waitingReason && (until !== undefined || !said.message.includes(goesWithout));
    const type = until === undefined ? 'Warning' : 'Normal';
    return isTold ? [] : [{ type, reason: waitingReason, message: waitingWords(hold, stays) }];
  }
  if (without.length === 0) return [];
  const message = `${without.slice(0, 10).join(', ')} did not become ready in time; it leaves ${stays} without`;
  return [{ type: 'Warning', reason: 'GoesAlone', message }];
}

/** Told when it is refused, and when that is for another reason, as Kubernetes' controllers tell it. */
export function refusalWords({ status }: Placement, root: KubeObject): Word[] {
  const refused = podRefusal(root);
  // Of what is being deleted, or is to have none, nobody tries to make a pod.
  if (refused === undefined || root.metadata.deletionTimestamp !== undefined || makesNone(root)) return [];
  const said = status?.conditions?.find(({ type }) => type === 'Settled');
  if (said?.message.endsWith(refused)) return [];
  const { kind, metadata } = root;
  const { name = '' } = metadata;
  const message =
    kind === 'StatefulSet'
      ? `Create Pod ${name}-0 in StatefulSet ${name} failed error: ${refused}`
      : `Error creating: ${refused}`;
  return [{ type: 'Warning', reason: 'FailedCreate', message }];
}

/**
 * What a cluster does not take: whose Placement somebody may not read is told by it alone. Told when it begins, and when it is for another
 * reason; what only has to go there first is nobody's business.
 */
export function refusalsBy({ status }: Placement, root: KubeObject, shares: Shares): Word[] {
  if (podRefusal(root) !== undefined) return [];
  const slices = status?.clusters ?? {};
  const said = status?.conditions?.find(({ type }) => type === 'Settled');
  const told = said?.reason === applyFailed ? said.message : '';
  return names(shares).flatMap((cluster): Word[] => {
    const message = failureWords(slices, cluster);
    if (message === undefined || told.includes(message)) return [];
    if (slices[cluster]?.error?.reason === 'Terminating') return [];
    return [{ type: 'Warning', reason: applyFailed, message }];
  });
}

/** Told once of each silence: its Placement says the same. */
function silences(
  { status }: Placement,
  shares: Shares,
  silenceAt: Parameters<typeof deletionWords>[1],
): Word[] {
  const message = deletionWords(shares, silenceAt);
  const isTold = status?.conditions?.some((said) => said.type === 'Settled' && said.message === message);
  return message === undefined || isTold ? [] : [{ type: 'Warning', reason: silentReason, message }];
}

/** Where it runs until the newcomer is ready, or until that may begin. */
function meanwhile(shares: Shares, newcomer: string, once: boolean): string {
  const others = names(shares).filter((name) => name !== newcomer && shares[name]?.phase !== 'Joining');
  if (once) return onceWords({ blind: [], refusing: [], givers: others });
  return others.length > 0 ? `; until it is ready, ${others.join(', ')} stays as it is` : '';
}

function names(shares: Shares): string[] {
  return Object.keys(shares).sort();
}
