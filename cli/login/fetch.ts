import http from 'node:http';
import https from 'node:https';
import type { CustomFetch } from 'openid-client';
import { isUnknownAuthority } from '../../apiserver/webhook/go-text.ts';
import { within } from '../../kube/within.ts';
import { isSafe } from './provider.ts';

const timeoutMs = 10_000;
const mostBytes = 1024 * 1024;

/**
 * What the issuer is asked by: in bounded time and size, over TLS or on loopback. A redirect is an answer like any that is
 * no 200. Rejects with a TypeError, as fetch does, that names the place and never what was sent there.
 * @param ca PEM: alone trusted; else whom this machine trusts.
 */
export function boundedFetch(ca: string | undefined): CustomFetch {
  return async (url, { body, headers, method }) => {
    const to = new URL(url);
    const place = `${to.origin}${to.pathname}`;
    if (!isSafe(to)) throw new TypeError(`${place}: only https is spoken, and http on loopback`);
    const sent = body === undefined || body === null ? undefined : Buffer.from(String(body));
    const length = sent && { 'content-length': String(sent.length) };
    try {
      return await ask(to, { method, headers: { ...headers, ...length }, ...(ca && { ca }) }, sent);
    } catch (error) {
      throw new TypeError(`${place}: ${why(error as NodeJS.ErrnoException, ca)}`);
    }
  };
}

function why({ message, code }: NodeJS.ErrnoException, ca: string | undefined): string {
  if (!isUnknownAuthority(code)) return message;
  const next =
    ca === undefined
      ? 'name who signed its certificate by --oidc-ca-file'
      : 'who signed its certificate is not in --oidc-ca-file';
  return `${message}: ${next}`;
}

function ask(to: URL, options: https.RequestOptions, body: Buffer | undefined): Promise<Response> {
  return within(timeoutMs, undefined, (signal) => askWithin(to, { ...options, signal }, body));
}

function askWithin(to: URL, options: https.RequestOptions, body: Buffer | undefined): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { request } = to.protocol === 'https:' ? https : http;
    const asked = request(to, { ...options, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > mostBytes) asked.destroy(new Error(`more than ${mostBytes} bytes`));
        else chunks.push(chunk);
      });
      answer.on('error', reject);
      answer.on('end', () => resolve(responseOf(answer, Buffer.concat(chunks))));
    });
    asked.on('error', (error) => {
      reject(options.signal?.aborted ? new Error(`no answer within ${timeoutMs / 1000} s`) : error);
    });
    asked.end(body);
  });
}

function responseOf({ statusCode = 500, rawHeaders }: http.IncomingMessage, body: Buffer): Response {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  // These have none.
  const bodiless = [204, 205, 304].includes(statusCode);
  return new Response(bodiless ? null : new Uint8Array(body), { status: statusCode, headers });
}
