import { getServers } from 'node:dns';
import type { TLSSocket } from 'node:tls';

/**
 * Why a connection failed, in the words that kube-apiserver's HTTP client has for it. `hostname` is the name that
 * the other side must prove, `to` what was dialled.
 */
export function connectionError(error: unknown, hostname: string, to = { hostname: '', port: '' }): string {
  const {
    code = '',
    message,
    address,
    port,
  } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  const dialled = `dial tcp ${address ?? to.hostname}:${port ?? to.port}`;
  if (Object.hasOwn(refusals, code)) return `${dialled}: connect: ${refusals[code]}`;
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${to.hostname}${resolver()}: no such host`;
  if (code === 'EAI_AGAIN') return `dial tcp: lookup ${to.hostname}${resolver()}: server misbehaving`;
  if (code === 'ETIMEDOUT') return `${dialled}: i/o timeout`;
  if (code === 'ECONNRESET') return message === 'read ECONNRESET' ? 'connection reset by peer' : 'EOF';
  return tlsError(error, hostname) ?? message;
}

const refusals: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
};

function resolver(): string {
  const [server] = getServers();
  if (server === undefined) return '';
  return ` on ${/:\d+$/.test(server) ? server : `${server}:53`}`;
}

const unknownAuthority = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

function tlsError(error: unknown, hostname: string): string | undefined {
  const { code = '', cert } = error as { code?: string; cert?: ReturnType<TLSSocket['getPeerCertificate']> };
  const failed = (why: string) => `tls: failed to verify certificate: x509: ${why}`;
  if (unknownAuthority.has(code)) return failed('certificate signed by unknown authority');
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
  return code === 'EPROTO' ? 'http: server gave HTTP response to HTTPS client' : undefined;
}

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

/** What an answer without 2xx means to kube-apiserver; `body` is what came with it. */
export function refusedError(code: number, body: string): string {
  const said = statusMessage(body);
  if (said !== undefined) return said;
  if (Object.hasOwn(byCode, code)) return byCode[code] ?? '';
  if (code === 403 || code === 415) return body;
  if (code < 500)
    return `the server responded with the status code ${code} but did not return more information`;
  return `an error on the server (${JSON.stringify(body.slice(0, 2048) || 'unknown')}) has prevented the request from succeeding`;
}

function statusMessage(body: string): string | undefined {
  try {
    const status = JSON.parse(body) as { kind?: unknown; status?: unknown; message?: unknown } | null;
    const failed = status?.kind === 'Status' && status.status !== 'Success';
    return failed && typeof status.message === 'string' ? status.message : undefined;
  } catch {
    return undefined;
  }
}
