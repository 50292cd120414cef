import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FailedError } from '../errors.ts';

/** Waits on 127.0.0.1 for a browser that comes back from the issuer. */
export interface Redirect {
  /** Where to, with the port. */
  url: string;
  /** The address that the browser came to. Rejects with FailedError when nobody comes in time. */
  came: Promise<URL>;
  close(): void;
}

const page = '<!doctype html><title>Atoll</title><p>You may close this page and go back to the terminal.';
const wrong = '<!doctype html><title>Atoll</title><p>This is not the answer that was waited for.';

/**
 * Only who brings `state` ends the wait: any other page can send a browser here. Throws FailedError.
 * @param wanted by http, on 127.0.0.1 or localhost; port 0 is any that is free.
 */
export async function awaitRedirect(wanted: string, state: string, timeoutMs: number): Promise<Redirect> {
  const url = new URL(wanted);
  const server = createServer({ maxHeaderSize: 16_384 });
  server.listen(Number(url.port || 80), '127.0.0.1');
  await once(server, 'listening').catch((error: Error) => {
    throw new FailedError(
      `nothing can come back to ${wanted}: ${error.message}; choose another with --oidc-redirect-url`,
    );
  });
  url.port = String((server.address() as AddressInfo).port);
  let timer: NodeJS.Timeout | undefined;
  const came = new Promise<URL>((resolve, reject) => {
    timer = setTimeout(() => {
      reject(new FailedError(`nobody signed in within ${timeoutMs / 1000} s: begin again, or use --device`));
    }, timeoutMs);
    server.on('request', (request, response) => {
      const at = awaited(request, url, state);
      answer(response, at === undefined ? 400 : 200);
      if (at !== undefined) resolve(at);
    });
  });
  // Whoever closes first need not look.
  came.catch(() => {});
  const close = () => {
    clearTimeout(timer);
    server.close();
    server.closeIdleConnections();
    server.unref();
  };
  return { url: url.href, came, close };
}

function awaited({ method, url = '', headers }: IncomingMessage, own: URL, state: string): URL | undefined {
  // A name that somebody made lead to loopback is not ours.
  if (method !== 'GET' || headers.host !== own.host || !URL.canParse(url, own.origin)) return undefined;
  const at = new URL(url, own.origin);
  return at.pathname === own.pathname && at.searchParams.get('state') === state ? at : undefined;
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(status === 200 ? page : wrong);
}
