import type { FaultPart } from '../part.ts';
import { damage } from './damage.ts';
import { etcd } from './etcd.ts';
import { full } from './full.ts';
import { fuzz } from './fuzz.ts';
import { kill } from './kill.ts';
import { power } from './power.ts';
import { soak } from './soak.ts';

/** In the order in which they run. */
export const parts: readonly FaultPart[] = [kill, power, full, damage, etcd, fuzz, soak];
