import type { Family } from '../metrics/family.ts';
import type { Settings } from '../settings.ts';

/**
 * What the first process tells the one that controls: once and first with `control`, at last to stop; between them to
 * answer, with anything, which says that it is not stuck, and to say what it counts.
 */
export type Order =
  | { order: 'control'; settings: Settings; rootCa: string; url: string }
  | { order: 'answer' }
  | { order: 'measure' }
  | { order: 'stop' };

/** When asked, and at the end. */
export type Report = 'here' | { families: Family[] };

/** The descriptor of the pipe to the store of the first process. */
export const storeDescriptor = 4;
