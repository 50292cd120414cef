import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../../apiserver/tls/ca.ts';

// biome-ignore lint/suspicious/noExplicitAny: reviews are read and written field by field.
type Loose = any;

/** How a webhook answers: of the converted objects what comes back instead, or the whole review's response. */
type Lie = (response: Loose, request: Loose) => Loose;

export interface ConversionWebhook {
  url: string;
  /** base64 */
  caBundle: string;
  /** The next reviews are answered so; undefined: honestly. */
  lie: Lie | undefined;
  /** In place of any review's answer. */
  raw: ((response: ServerResponse) => void) | undefined;
  /** What is waited for before the next reviews are answered. */
  hold: (() => Promise<void>) | undefined;
  /** The requests of the reviews that came. */
  asked: { apiVersion: string; request: Loose }[];
  close(): Promise<void>;
}

/** Between v1, whose spec.host is `name:port`, and v2, which has both by themselves. */
export async function startConversionWebhook(): Promise<ConversionWebhook> {
  const authority = await createAuthority('conversion');
  const { certificate: cert, privateKey: key } = await authority.issueServer([
    '127.0.0.1',
    'hook.default.svc',
  ]);
  const hook: ConversionWebhook = {
    url: '',
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    lie: undefined,
    raw: undefined,
    hold: undefined,
    asked: [],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const server = createServer({ cert, key }, async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // Whoever asked wants to know no more.
      return;
    }
    const review = JSON.parse(Buffer.concat(chunks).toString());
    hook.asked.push({ apiVersion: review.apiVersion, request: review.request });
    await hook.hold?.();
    if (hook.raw) return void hook.raw(response);
    const { apiVersion, kind, request: asked } = review;
    const honest = {
      uid: asked.uid,
      result: { status: 'Success' },
      convertedObjects: asked.objects.map((one: Loose) => converted(one, asked.desiredAPIVersion)),
    };
    const answer = hook.lie?.(honest, asked) ?? honest;
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ apiVersion, kind, response: answer }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  hook.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/convert`;
  return hook;
}

function converted(object: Loose, apiVersion: string): Loose {
  const { host, hostName, port, ...rest } = object.spec ?? {};
  const { tier: _, ...spec } = rest;
  if (apiVersion.endsWith('/v1')) {
    return { ...object, apiVersion, spec: { ...spec, host: `${hostName ?? ''}:${port ?? ''}` } };
  }
  const [name = '', number = ''] = String(host ?? '').split(':');
  return {
    ...object,
    apiVersion,
    spec: { ...rest, ...(name && { hostName: name }), ...(number && { port: Number(number) }) },
  };
}
