import { isIP } from 'node:net';
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';
import { type CallError, isCallError, translate, verdict } from './errors.ts';
import type { EtcdOptions, EtcdSecrets } from './options.ts';
import { UnaryChannel } from './unary.ts';
import { authenticate, type Method, status } from './wire.ts';

/** etcd answers within 7 s or says that it timed out; a lost packet costs less than that. */
export const ATTEMPT_MS = 5000;

/** Of an etcd that asks nobody who they are. */
export function needsNone({ details }: CallError): boolean {
  return /authentication is not enabled/.test(details);
}

/** By a connection of its own. */
export async function tryOut(address: string, options: EtcdOptions): Promise<void> {
  const { username: name, password = '' } = options;
  const channel = unaryChannel(address, () => options);
  try {
    if (name === undefined) await invoke(channel, status, {}, {}, ATTEMPT_MS);
    else await invoke(channel, authenticate, { name, password }, {}, ATTEMPT_MS);
  } catch (error) {
    if (!isCallError(error)) throw error;
    // That a client may not ask for this is an answer.
    const taken = name === undefined ? verdict(error) !== 'again' : needsNone(error);
    if (!taken) throw translate(error);
  } finally {
    channel.close();
  }
}

export async function invoke<Q, A>(
  channel: UnaryChannel,
  method: Method<Q, A>,
  request: Q,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<A> {
  return method.decode(await channel.call(method.path, method.encode(request), { headers, timeoutMs }));
}

function isSecure({ endpoints, tls }: EtcdOptions): boolean {
  return tls !== undefined || endpoints.some((endpoint) => endpoint.startsWith('https://'));
}

export function unaryChannel(address: string, options: () => EtcdOptions): UnaryChannel {
  if (!isSecure(options())) return new UnaryChannel(`http://${address}`);
  return new UnaryChannel(`https://${address}`, () => ({
    // A name to ask for: addresses have none, and are still checked.
    ...(isIP(address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) > 0 && { servername: '' }),
    ...pems(options().tls ?? {}),
  }));
}

export function channelCredentials(options: EtcdOptions): ChannelCredentials {
  if (!isSecure(options)) return credentials.createInsecure();
  const { tls } = options;
  const pem = (text: string | Uint8Array | undefined) => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(pem(tls?.ca), pem(tls?.key), pem(tls?.cert));
}

/** As Node's TLS takes them. */
function pems({ ca, cert, key }: NonNullable<EtcdSecrets['tls']>) {
  const pem = (text: string | Uint8Array) => (typeof text === 'string' ? text : Buffer.from(text));
  return {
    ...(ca !== undefined && { ca: pem(ca) }),
    ...(cert !== undefined && { cert: pem(cert) }),
    ...(key !== undefined && { key: pem(key) }),
  };
}
