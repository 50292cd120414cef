import type { Server, Socket } from 'node:net';

/** The open connections of one listener. */
export class Connections {
  readonly #open = new Set<Socket>();
  readonly #leaving = new WeakSet<Socket>();

  constructor(server: Server) {
    server.on('secureConnection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Of the open ones this share goes with its next answer: who comes again may find another process. */
  shed(share: number): void {
    let due = 0.5;
    for (const socket of this.#open) {
      due += share;
      if (due < 1) continue;
      due--;
      this.#leaving.add(socket);
    }
  }

  leaves(socket: Socket): boolean {
    return this.#leaving.has(socket);
  }
}
