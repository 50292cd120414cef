import type https from 'node:https';
import { checkServerIdentity, type PeerCertificate, type TLSSocket } from 'node:tls';
import { isIssuedBy } from './authorities.ts';

/** OpenSSL's word for a certificate whose issuer has its own name, whoever signed it. */
const namedAsIssuer = 'DEPTH_ZERO_SELF_SIGNED_CERT';

const mostMet = 1_000;

/**
 * Has the agent trust a certificate that one of the request's own authorities signed, though it bears that one's name: operators that
 * make both by themselves, as all that are built on knative do, give them one, and Go's verifier, which asks who signed, takes it.
 * The connection is handed out once that is known, so nothing is sent before. What else there is against a certificate stands.
 */
export function trustIssued<A extends https.Agent>(agent: A, now = Date.now): A {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const done = once((error: Error | null, socket?: TLSSocket) => callback?.(error, socket as never));
    const socket = connect({ ...options, rejectUnauthorized: false } as never, (error) => done(error)) as
      | TLSSocket
      | undefined;
    socket?.once('error', done);
    socket?.once('secureConnect', () => {
      const problem = problemOf(socket, options as Asked, now());
      if (problem) socket.destroy(problem);
      else done(null, socket);
    });
    return undefined;
  };
  return agent;
}

interface Asked {
  ca?: unknown;
  servername?: string | undefined;
  host?: string | null | undefined;
}

/** What speaks against the other end of a connection that was made whatever it shows, by whoever of its authorities signed that. */
export function problemOf(
  socket: TLSSocket,
  { ca, servername, host }: Asked,
  now: number,
): Error | undefined {
  if (socket.authorized) return undefined;
  try {
    const code = String(socket.authorizationError);
    const leaf = socket.getPeerX509Certificate();
    const isIssued = code === namedAsIssuer && leaf && isIssuedBy(String(ca ?? ''), leaf, now);
    if (!isIssued) return Object.assign(new Error('certificate not trusted'), { code });
    return checkServerIdentity(servername || host || '', leaf.toLegacyObject() as PeerCertificate);
  } catch (error) {
    // Whatever is thrown of what somebody else wrote is a problem of that: nobody else would hear it, and the process end.
    return error as Error;
  }
}

/** Authorities of which a certificate that bears their own name was met: what they signed is asked of them from then on. */
export class Met {
  readonly #authorities = new Set<string>();

  has(ca: unknown): boolean {
    return typeof ca === 'string' && this.#authorities.has(ca);
  }

  /** Whether it failed for that alone, and is to be asked anew. */
  learn(error: unknown, ca: unknown): boolean {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== namedAsIssuer || typeof ca !== 'string' || this.#authorities.has(ca)) return false;
    if (this.#authorities.size >= mostMet) this.#authorities.clear();
    this.#authorities.add(ca);
    return true;
  }
}

function once<T extends unknown[]>(call: (...args: T) => void): (...args: T) => void {
  let isCalled = false;
  return (...args) => {
    if (!isCalled) call(...args);
    isCalled = true;
  };
}
