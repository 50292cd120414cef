import type { Family } from '../metrics/family.ts';
import type { Answer, Question } from '../profiling/types.ts';
import type { Settings } from '../settings.ts';

/**
 * What the first process tells the one that controls: once and first with `control` (and with `texts` what it has taken of files), at last to stop; between them to
 * answer, with anything, which says that it is not stuck, to say what it counts, and to profile itself.
 */
export type Order =
  | { order: 'control'; settings: Settings; texts: Record<string, string>; rootCa: string; url: string }
  | { order: 'answer' }
  | { order: 'measure' }
  | { order: 'profile'; id: number; question: Question }
  | { order: 'stop' };

/** That it is there once it has started, and all else when asked; what it counts at the end, too. */
export type Report = 'here' | { families: Family[] } | { id: number; profiled: Answer };

/** The descriptor of the pipe to the store of the first process. */
export const storeDescriptor = 4;
