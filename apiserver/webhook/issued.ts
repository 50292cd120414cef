import { X509Certificate } from 'node:crypto';
import type https from 'node:https';
import { checkServerIdentity, type PeerCertificate, type TLSSocket } from 'node:tls';

/** OpenSSL's word for a certificate whose issuer has its own name, whoever signed it. */
export const namedAsIssuer = 'DEPTH_ZERO_SELF_SIGNED_CERT';

/** Of a request's authorities; to read one takes the thread a third of a millisecond, for each connection. */
const mostLookedAt = 64;

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
      const { ca, servername, host } = options as { ca?: string; servername?: string; host?: string };
      const problem = told(() => problemOf(socket, ca ?? '', servername || host || '', now()));
      if (problem) socket.destroy(problem);
      else done(null, socket);
    });
    return undefined;
  };
  return agent;
}

/** Whatever is thrown of what somebody else wrote is a problem of that: nobody else would hear it, and the process end. */
function told(find: () => Error | undefined): Error | undefined {
  try {
    return find();
  } catch (error) {
    return error as Error;
  }
}

function problemOf(socket: TLSSocket, ca: string, name: string, now: number): Error | undefined {
  if (socket.authorized) return undefined;
  const code = String(socket.authorizationError);
  const leaf = socket.getPeerX509Certificate();
  const isIssued = code === namedAsIssuer && leaf && isIssuedBy(ca, leaf, now);
  if (!isIssued) return Object.assign(new Error('certificate not trusted'), { code });
  return checkServerIdentity(name, leaf.toLegacyObject() as PeerCertificate);
}

/** By an authority among these, which are PEM; for a server, and at that time. */
export function isIssuedBy(ca: string, leaf: X509Certificate, now: number): boolean {
  if (!isValid(leaf, now) || !isForServers(leaf)) return false;
  const pems = ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return pems.slice(0, mostLookedAt).some((pem) => {
    const issuer = read(pem);
    if (!issuer?.ca || !isValid(issuer, now)) return false;
    return leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey);
  });
}

/** What cannot be read is no authority, as OpenSSL and Go have it. */
function read(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function isValid({ validFrom, validTo }: X509Certificate, now: number): boolean {
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo);
}

const serverAuth = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

/** Node calls what a certificate is for by extension the usage of its key. */
function isForServers({ keyUsage }: X509Certificate): boolean {
  return keyUsage === undefined || keyUsage.some((usage) => serverAuth.includes(usage));
}

function once<T extends unknown[]>(call: (...args: T) => void): (...args: T) => void {
  let isCalled = false;
  return (...args) => {
    if (!isCalled) call(...args);
    isCalled = true;
  };
}
