import type { Answer, Question } from '../../apiserver/limits/questions.ts';
import type { Tls } from '../certificates.ts';
import type { Family } from '../metrics/family.ts';
import type { Page } from '../metrics/text.ts';
import type { Said, Told } from '../profiling/beside.ts';
import type { Settings } from '../settings.ts';
import type { Load } from './decide.ts';

/** What the first process tells one beside it. `texts`: what it has taken of files. With `listen`, when that is prepared, comes the socket at which to. */
export type Order =
  | { order: 'serve'; settings: Settings; texts: Record<string, string>; tls: Tls }
  | { order: 'listen' }
  /** The certificate is another one from now on. */
  | { order: 'show'; tls: Tls }
  | { order: 'shed'; share: number }
  /** So many serve, and share what may be at work at a time. */
  | { order: 'among'; processes: number }
  | { order: 'drain' }
  /** Say anything, as its load each second. */
  | { order: 'answer' }
  /** Say what you count. */
  | { order: 'measure' }
  /** What all of us count, as you asked. */
  | { order: 'page'; id: number; page: Page }
  /** Of logical clusters' limits, as you asked. */
  | { order: 'told'; id: number; answer?: Answer; failed?: string }
  | Told
  | { order: 'stop' };

/**
 * What a process says of itself: that it could serve, that it does, then each second how busy it was, what it counts when
 * asked and at its end, that somebody asks it for what all count, what it asks of logical clusters' limits, at last that it takes no more connections.
 */
export type Report =
  | { report: 'prepared' }
  | { report: 'ready' }
  | { report: 'load'; load: Load }
  | { report: 'measured'; families: Family[] }
  | { report: 'scraped'; id: number; accept: string; only?: 'slis' }
  | { report: 'asked'; id: number; question: Question }
  | Said
  | { report: 'deaf' };

/** The descriptor of the pipe to the store of the first process. */
export const storeDescriptor = 4;
