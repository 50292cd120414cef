import { apply } from './apply.ts';
import { drain } from './drain.ts';
import { event } from './event.ts';
import { idle } from './idle.ts';
import { move } from './move.ts';
import { policy } from './policy.ts';
import { restart } from './restart.ts';

/** By the name after `placement-`. */
export const placementParts: Readonly<Record<string, () => Promise<void>>> = {
  apply,
  event,
  restart,
  policy,
  idle,
  drain,
  move,
};
