import type { FaultPart } from '../part.ts';

/** In the order in which they run. */
export const parts: readonly FaultPart[] = [];
