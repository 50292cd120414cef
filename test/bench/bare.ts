/** As a program: fastify over TLS that answers everything with the bytes of one ConfigMap. Tells its port to its parent. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import Fastify from 'fastify';
import { createAuthority } from '../../apiserver/tls/ca.ts';
import { configMap } from './load.ts';

const program = fileURLToPath(import.meta.url);

export interface Bare {
  name: string;
  url: string;
  close(): Promise<void>;
}

/** In a process of its own, as the others are. */
export async function bareServer(): Promise<Bare> {
  const child = fork(program);
  const [url] = (await once(child, 'message')) as [string];
  const close = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { name: 'fastify', url, close };
}

async function serve(): Promise<void> {
  const authority = await createAuthority('bare');
  const { certificate, privateKey } = await authority.issueServer(['127.0.0.1']);
  const body = Buffer.from(`${JSON.stringify(configMap('bare'))}\n`);
  const app = Fastify({
    https: { cert: certificate, key: privateKey, requestCert: true, rejectUnauthorized: false },
  });
  app.get('/*', (_, reply) => reply.header('content-type', 'application/json').send(body));
  await app.listen({ host: '127.0.0.1', port: 0 });
  process.send?.(`https://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
}

if (process.argv[1] === program) await serve();
