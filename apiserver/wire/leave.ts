import { Server } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Connections } from './connections.ts';

/** Long enough for somebody who was told to go to come again. */
const quietMs = 100;
const longestQuietMs = 1000;
/** In a longer turn of the event loop somebody may have come who is not taken yet. */
const shortTurnMs = 2;
const longestPartingMs = 500;
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
  await untilQuiet(connections, performance.now() + longestQuietMs);
  close(server);
}

/**
 * Takes no more connections at a socket where others listen, who take those that are there. Resolves when whoever has
 * been told to go has gone, and so come to them.
 */
export async function leaveToOthers(server: Server, connections: Connections): Promise<void> {
  close(server);
  const deadline = performance.now() + longestPartingMs;
  while (connections.parting > 0 && performance.now() < deadline) await setTimeout(quietMs / 10);
}

/** That of HTTP would reset the connections that are idle. */
function close(server: Server): void {
  Server.prototype.close.call(server);
}

/** Resolves right after a turn in which what came was taken, and there was little else to do. */
async function untilQuiet(connections: Connections, deadline: number): Promise<void> {
  let accepted = connections.accepted;
  for (let quietFrom = performance.now(); ; ) {
    const from = performance.now();
    await setImmediate();
    const now = performance.now();
    if (connections.accepted !== accepted || connections.handshaking + connections.parting > 0)
      quietFrom = now;
    accepted = connections.accepted;
    if (now >= deadline || (now - quietFrom >= quietMs && now - from < shortTurnMs)) return;
    if (now - quietFrom < quietMs) await setTimeout(quietMs / 10);
  }
}

/** Resolves when no connection is left. `gone`: the server says so. What `patience` allows counts from `from`. */
export async function letGo(
  connections: Connections,
  gone: Promise<unknown>,
  patience: Patience,
  from: number,
): Promise<void> {
  const { lingerMs, cutMs, longestMs } = patience;
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
