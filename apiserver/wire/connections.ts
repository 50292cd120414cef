import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import { type Place, UnderWay } from '../../kube/under-way.ts';

/** The last time that anything came in, and how much had come by then. */
interface Movement {
  bytes: number;
  at: number;
}

/** A request that is not answered to its end. */
interface Asked {
  request: IncomingMessage;
  /** When its answer was there, and had only to be sent. */
  answered: number;
}

export type Begun = Place<Asked>;

/** The open connections of one listener, and the requests at each that are not answered to their end. */
export class Connections {
  readonly #open = new Set<Socket>();
  readonly #handshaking = new Map<string, Socket>();
  readonly #leaving = new WeakSet<Socket>();
  /** They have had their last answer, and are not closed yet. */
  readonly #told = new Set<Socket>();
  readonly #movements = new WeakMap<Socket, Movement>();
  readonly #requests = new UnderWay<Asked>();
  #allLeave = false;
  #accepted = 0;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#accepted++;
      const peer = peerOf(socket);
      this.#handshaking.set(peer, socket);
      socket.once('close', () => this.#handshaking.delete(peer));
    });
    server.on('secureConnection', (socket: Socket) => {
      this.#handshaking.delete(peerOf(socket));
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** How many there have ever been. */
  get accepted(): number {
    return this.#accepted;
  }

  /** How many have had their last answer and are still open: their clients are about to come again. */
  get parting(): number {
    return this.#told.size;
  }

  /** How many have not said who they are yet. */
  get handshaking(): number {
    return this.#handshaking.size;
  }

  /** Its last answer has been sent. */
  told(socket: Socket): void {
    if (!this.#open.has(socket)) return;
    this.#told.add(socket);
    socket.once('close', () => this.#told.delete(socket));
  }

  begun(request: IncomingMessage): Begun {
    return this.#requests.add({ request, answered: Number.POSITIVE_INFINITY });
  }

  answered({ item }: Begun): void {
    item.answered = performance.now();
  }

  ended(begun: Begun): void {
    this.#requests.delete(begun);
    if (this.#allLeave) this.#moved(begun.item.request.socket);
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

  /** From now on every one goes with its next answer. */
  shedAll(): void {
    if (this.#allLeave) return;
    this.#allLeave = true;
    for (const socket of this.#open) this.#moved(socket);
  }

  leaves(socket: Socket): boolean {
    return this.#allLeave || this.#leaving.has(socket);
  }

  /** Ends those at which nobody has asked for anything for `millis`: what was said to them arrives, and so does the end. */
  endIdle(millis: number): void {
    const busy = new Set(this.#requests.places().map(({ item }) => item.request.socket));
    const now = performance.now();
    for (const socket of this.#open) {
      const last = this.#movements.get(socket);
      if (busy.has(socket) || last?.bytes !== socket.bytesRead) this.#moved(socket);
      else if (now - last.at >= millis && !socket.writableEnded) socket.end();
    }
  }

  /**
   * Cuts all but those whose request came whole and has no answer yet, as what it does is under way, or has had one for
   * less than `millis`: that is being sent.
   */
  cut(millis: number): void {
    const working = new Set<Socket>();
    const since = performance.now() - millis;
    for (const { item } of this.#requests.places())
      if (item.request.complete && item.answered > since) working.add(item.request.socket);
    this.#cutBut(working);
  }

  cutAll(): void {
    this.#cutBut(new Set());
  }

  #cutBut(spared: ReadonlySet<Socket>): void {
    for (const socket of this.#open) if (!spared.has(socket)) socket.destroy();
    for (const socket of this.#handshaking.values()) socket.destroy();
  }

  #moved(socket: Socket): void {
    this.#movements.set(socket, { bytes: socket.bytesRead, at: performance.now() });
  }
}

/** The same of a socket and of its TLS; no two open ones share it. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
