import type { Duplex } from 'node:stream';

/** A connection whose first bytes, `head`, came along with the answer that opened it. It lives on for as long as it is used. */
export function tunnelOf(socket: Duplex, head: Buffer): Duplex {
  if (head.length > 0) socket.unshift(head);
  return socket;
}
