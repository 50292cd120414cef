import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Refusal } from '../egress/decide.ts';

/**
 * Why a connection failed, in the words that kube-apiserver's HTTP client has for it, without what a name resolved to and
 * who said so: tenants read it. `hostname` is the name that the other side must prove, `to` what was dialled.
 */
export function connectionError(error: unknown, hostname: string, to = { hostname: '', port: '' }): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const dialled = dialledTo(to);
  if (Object.hasOwn(refusals, code)) return `${dialled}: connect: ${refusals[code]}`;
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${to.hostname}: no such host`;
  if (code === 'EAI_AGAIN') return `dial tcp: lookup ${to.hostname}: server misbehaving`;
  if (code === 'ETIMEDOUT') return `${dialled}: i/o timeout`;
  if (code === 'ECONNRESET') return message === 'read ECONNRESET' ? 'connection reset by peer' : 'EOF';
  return tlsError(error, hostname) ?? message;
}

const refusals: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
};

function dialledTo({ hostname, port }: { hostname: string; port: string }): string {
  return `dial tcp ${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`;
}

const kinds: Readonly<Record<Refusal, string>> = {
  loopback: 'a loopback address',
  'link-local': 'a link-local address',
  metadata: 'an address of cloud metadata',
  unspecified: 'an unspecified address',
  multicast: 'a multicast address',
  reserved: 'a reserved address',
  own: "the server's own address",
  denied: 'an address that is denied',
};

/** To `url`, as the user has it: what its name resolved to is not for them. */
export function notAllowed(refusal: Refusal, { hostname, port }: URL): string {
  const host = hostname.replace(/^\[|\]$/g, '');
  const dialled = dialledTo({ hostname: host, port: port || '443' });
  const which = isIP(host) === 0 ? 'its address' : kinds[refusal];
  return `${dialled}: ${which} is not allowed (--egress-allow)`;
}

const unknownAuthority = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

/** Whether a connection of that code failed since nobody who is trusted signed the other end's certificate. */
export function isUnknownAuthority(code: string | undefined): boolean {
  return code !== undefined && unknownAuthority.has(code);
}

function tlsError(error: unknown, hostname: string): string | undefined {
  const { code = '', cert } = error as { code?: string; cert?: ReturnType<TLSSocket['getPeerCertificate']> };
  const failed = (why: string) => `tls: failed to verify certificate: x509: ${why}`;
  if (isUnknownAuthority(code)) return failed('certificate signed by unknown authority');
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return failed('certificate has expired or is not yet valid');
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = (cert?.subjectaltname ?? '').split(', ').filter((name) => name.startsWith('DNS:'));
    if (names.length === 0)
      return failed(`certificate is not valid for any names, but wanted to match ${hostname}`);
    return failed(
      `certificate is valid for ${names.map((name) => name.slice(4)).join(', ')}, not ${hostname}`,
    );
  }
  const alert = alertIn(error as Error);
  if (alert !== undefined) return `remote error: tls: ${alerts[alert] ?? `alert(${alert})`}`;
  return code === 'EPROTO' ? 'http: server gave HTTP response to HTTPS client' : undefined;
}

/** What the other end said as it refused, which is in OpenSSL's message alone: the number of RFC 8446, section 6. */
function alertIn({ message }: Error): number | undefined {
  const number = /:SSL alert number (\d+)/.exec(message)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** As Go's crypto/tls calls them. */
const alerts: Readonly<Record<number, string>> = {
  10: 'unexpected message',
  20: 'bad record MAC',
  22: 'record overflow',
  40: 'handshake failure',
  42: 'bad certificate',
  43: 'unsupported certificate',
  44: 'revoked certificate',
  45: 'expired certificate',
  46: 'unknown certificate',
  47: 'illegal parameter',
  48: 'unknown certificate authority',
  49: 'access denied',
  50: 'error decoding message',
  51: 'error decrypting message',
  70: 'protocol version not supported',
  71: 'insufficient security level',
  80: 'internal error',
  86: 'inappropriate fallback',
  109: 'missing extension',
  110: 'unsupported extension',
  112: 'unrecognized name',
  116: 'certificate required',
  120: 'no application protocol',
};

/** Of a body, in a message. */
const mostQuoted = 2048;

const byCode: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** What an answer without 2xx means to kube-apiserver; `body` is what came with it, which is quoted where it is text. */
export function refusedError(code: number, body: string, type = ''): string {
  const said = statusMessage(body);
  if (said !== undefined) return said;
  if (Object.hasOwn(byCode, code)) return byCode[code] ?? '';
  const isText = type === '' || type.startsWith('text/');
  const quoted = isText ? body.slice(0, mostQuoted).trim() : 'unknown';
  if (code === 403 || code === 415) return quoted;
  if (code < 500)
    return `the server responded with the status code ${code} but did not return more information`;
  return `an error on the server (${JSON.stringify(quoted || 'unknown')}) has prevented the request from succeeding`;
}

/** No Status is longer; what is is not read for whether it be one. */
const mostStatus = 64 << 10;

function statusMessage(body: string): string | undefined {
  if (body.length > mostStatus) return undefined;
  try {
    const status = JSON.parse(body) as { kind?: unknown; status?: unknown; message?: unknown } | null;
    const failed = status?.kind === 'Status' && status.status !== 'Success';
    return failed && typeof status.message === 'string' ? status.message : undefined;
  } catch {
    return undefined;
  }
}
