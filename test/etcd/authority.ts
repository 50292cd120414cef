import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority } from '../../apiserver/tls/ca.ts';

/** Names of files, and the authority's certificate itself. */
export interface TestAuthority {
  ca: string;
  caText: string;
  server: { cert: string; key: string };
  client: { cert: string; key: string };
}

/** An authority with one server on loopback and one client, in files below `dir`. */
export async function createTestAuthority(dir: string): Promise<TestAuthority> {
  const authority = await createAuthority('etcd-ca');
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(dir, name), text);
    return join(dir, name);
  };
  const server = await authority.issueServer(['localhost', '127.0.0.1']);
  const client = await authority.issueClient('atoll', []);
  return {
    ca: await write('ca.crt', authority.certificate),
    caText: authority.certificate,
    server: {
      cert: await write('server.crt', server.certificate),
      key: await write('server.key', server.privateKey),
    },
    client: {
      cert: await write('client.crt', client.certificate),
      key: await write('client.key', client.privateKey),
    },
  };
}
