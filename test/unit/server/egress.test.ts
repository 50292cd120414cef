import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { httpTransport } from '../../../client/http.ts';
import { egressToClusters } from '../../../server/egress.ts';
import { resolveSettings } from '../../../server/settings.ts';

const egress = egressToClusters(resolveSettings({ egressDeny: '127.9.0.0/16' }, undefined, {}));

async function asked(server: string): Promise<unknown> {
  const transport = httpTransport({ server, guard: (agent) => egress.guard(agent), timeoutMs: 5000 });
  const answer = transport({ method: 'GET', url: '/', headers: {} });
  return answer.then(
    ({ status }) => status,
    (error: Error) => error.message,
  );
}

test.each([
  ['https://169.254.169.254', 'metadata'],
  ['http://169.254.169.254', 'metadata'],
  ['https://[fd00:ec2::254]', 'metadata'],
  ['https://169.254.1.1:6443', 'link-local'],
  ['https://[::ffff:169.254.1.1]', 'link-local'],
  ['https://127.9.0.1', 'denied'],
])('a physical cluster at %s is not called', async (server, why) => {
  expect(await asked(server)).toBe(`the address is not allowed (--egress-allow): ${why}`);
});

test('one of this machine is, and where it redirects to is not', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    seen.push(url);
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  expect(await asked(`http://127.0.0.1:${port}`)).toBe(302);
  expect(await asked(`http://localhost:${port}`)).toBe(302);
  expect(seen).toEqual(['/', '/']);
  server.closeAllConnections();
  server.close();
});
