import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, loadAuthority } from '../../../../apiserver/tls/ca.ts';

// biome-ignore lint/suspicious/noExplicitAny: reviews are read field by field.
type Review = any;

export interface Hooks {
  /** clientConfig of the webhook that `answer` plays at a path. */
  config(path: string): { url: string; caBundle: string };
  port: number;
  caBundle: string;
  /** What was asked, in order. */
  asked: { path: string; request: Review; headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

/** A webhook server on loopback; `answers` by path give the response without its uid, or null: none ever comes. */
export async function startHooks(
  answers: Record<string, (request: Review) => object | null>,
): Promise<Hooks> {
  const authority = await createAuthority('hooks');
  const { certificate, privateKey } = await (await loadAuthority(authority)).issueServer([
    '127.0.0.1',
    'hook.default.svc',
  ]);
  const asked: Hooks['asked'] = [];
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      const review = JSON.parse(Buffer.concat(chunks).toString());
      asked.push({ path, request: review.request, headers: request.headers });
      const answer = answers[path] ? answers[path](review.request) : { allowed: true };
      if (answer === null) return;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ ...review, request: undefined, response: { uid: review.request.uid, ...answer } }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const caBundle = Buffer.from(authority.certificate).toString('base64');
  return {
    asked,
    port,
    caBundle,
    config: (path) => ({ url: `https://127.0.0.1:${port}${path}`, caBundle }),
    close: () => closed(server),
  };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

export const patchOf = (operations: object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
