import type { Tls } from '../certificates.ts';
import type { Settings } from '../settings.ts';
import type { Load } from './decide.ts';

/** What the first process tells one beside it. With `listen`, when that is prepared, comes the socket at which to. */
export type Order =
  | { order: 'serve'; settings: Settings; tls: Tls }
  | { order: 'listen' }
  /** The certificate is another one from now on. */
  | { order: 'show'; tls: Tls }
  | { order: 'shed'; share: number }
  | { order: 'drain' }
  | { order: 'stop' };

/**
 * What a process says of itself: that it could serve, that it does, then each second how busy it was, at last that it
 * takes no more connections.
 */
export type Report =
  | { report: 'prepared' }
  | { report: 'ready' }
  | { report: 'load'; load: Load }
  | { report: 'deaf' };

/** The descriptor of the pipe to the store of the first process. */
export const storeDescriptor = 4;
