import { Server } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Connections } from './connections.ts';

/** Long enough for somebody who was told to go to come again, on a busy machine, too. */
const quietMs = 100;
const longestQuietMs = 500;
const stepMs = 50;

/** How long whom a server that goes still knows is waited for. */
export interface Patience {
  /** For the next request on a connection: one that is on its way is answered. */
  lingerMs: number;
  /** For whoever sends, and for whoever reads an answer, from when it was there. */
  cutMs: number;
  /** For requests at work. */
  longestMs: number;
}

/**
 * Takes no more connections. The kernel resets those that it has made and nobody has taken yet: so it is done in a
 * moment in which none comes. Meanwhile the caller lets no answer out, as whoever has one comes again.
 */
export async function stopListening(server: Server, connections: Connections): Promise<void> {
  const deadline = performance.now() + longestQuietMs;
  for (let before = 0; before !== connections.accepted && performance.now() < deadline; ) {
    before = connections.accepted;
    await setTimeout(quietMs);
  }
  // Right after what came was taken.
  await setImmediate();
  // That of HTTP would reset the connections that are idle.
  Server.prototype.close.call(server);
}

/** Resolves when no connection is left. `gone`: the server says so. */
export async function letGo(
  connections: Connections,
  gone: Promise<unknown>,
  patience: Patience,
): Promise<void> {
  const { lingerMs, cutMs, longestMs } = patience;
  const from = performance.now();
  const timer = setInterval(() => {
    const past = performance.now() - from;
    if (past >= longestMs) connections.cutAll();
    else if (past >= cutMs) connections.cut(cutMs);
    else connections.endIdle(lingerMs);
  }, stepMs);
  try {
    await gone;
  } finally {
    clearInterval(timer);
  }
}
