import { volumeCopies } from '../cluster/names.ts';
import type { Condition } from '../cluster/types.ts';
import { copyFailed, progressOf } from '../cluster/volume-copy.ts';
import type { Word } from '../controller/events.ts';
import { listWithMore } from '../kube/table/format.ts';
import type { Want } from './copies.ts';
import type { CopyStep, Failure } from './copy-step.ts';

export const copying = 'Copying';

/** So few that a line stays one that is read. */
const mostNamed = 3;

type Said = Pick<Condition, 'status' | 'reason' | 'message'>;

/** What is waited for of copiers; undefined: nothing. */
export function copyVerdict({ wants, failures }: CopyStep): Said | undefined {
  if (failures.length > 0) {
    return { status: 'False', reason: copyFailed, message: failures.map(failureWords).join('; ') };
  }
  const awaited = wants.filter(({ state }) => state !== 'done');
  if (awaited.length === 0) return undefined;
  const message = listWithMore(awaited.map(wantWords), mostNamed, '');
  return {
    status: 'False',
    reason: copying,
    message: `${message}; what uses it starts there when that is done`,
  };
}

function failureWords({ claim, from, to, why, copy }: Failure): string {
  const until = copy
    ? `; to have it tried again, delete ${volumeCopies.resource}/${claim}`
    : ' until there is one';
  return `its claim ${claim} was not copied from ${from} to ${to}: ${why}; it stays on ${from}${until}`;
}

function wantWords({ claim, from, to, state, copy }: Want): string {
  const how: Record<Want['state'], string> = {
    missing: 'it is about to be asked for',
    copying: copy ? progressOf(copy) : '',
    done: 'it is done',
    failed: `it failed, and what uses it starts again on ${from}`,
    ended: `a copier has yet to let go of the one from ${copy?.spec?.from} to ${copy?.spec?.to}`,
  };
  return `its claim ${claim} is copied from ${from} to ${to}: ${how[state]}`;
}

/** Told when a copy is asked for, and when one failed. `before`: what the Placement said. */
export function copyWords({ wants, failures }: CopyStep, before: readonly Condition[] = []): Word[] {
  const asked = wants.filter(({ state }) => state === 'missing');
  const words = asked.slice(0, 10).map(
    ({ claim, from, to }): Word => ({
      type: 'Normal',
      reason: copying,
      message: `its claim ${claim} is copied from ${from} to ${to}`,
    }),
  );
  const isTold = before.some(({ type, reason }) => type === 'Settled' && reason === copyFailed);
  if (failures.length === 0 || isTold) return words;
  return [...words, { type: 'Warning', reason: copyFailed, message: failures.map(failureWords).join('; ') }];
}
