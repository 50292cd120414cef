import type { FaultPart } from '../part.ts';
import { damage } from './damage.ts';
import { etcd } from './etcd.ts';
import { full } from './full.ts';
import { kill } from './kill.ts';
import { power } from './power.ts';

/** In the order in which they run. */
export const parts: readonly FaultPart[] = [kill, power, full, damage, etcd];
