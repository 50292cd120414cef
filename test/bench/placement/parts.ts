import { event } from './event.ts';
import { policy } from './policy.ts';
import { restart } from './restart.ts';

/** By the name after `placement-`. */
export const placementParts: Readonly<Record<string, () => Promise<void>>> = { event, restart, policy };
