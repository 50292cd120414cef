import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeYaml } from '../../kube/yaml.ts';
import { programs } from '../kubernetes/kubernetes.ts';
import { kind, refused } from '../unit/kube/authorization/configurations.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-authorization-'));
  await writeFile(join(directory, 'there'), '');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What kube-apiserver says that keeps it from starting with that file. */
function said(configuration: string): Promise<string> {
  const flags = ['--authorization-config', configuration, '--cert-dir', directory];
  const others = ['--etcd-servers', 'http://127.0.0.1:1', '--service-account-issuer', 'https://issuer'];
  return new Promise((resolve, reject) => {
    execFile(join(programs, 'kube-apiserver'), [...flags, ...others], (error, _out, log) =>
      error ? resolve(log) : reject(new Error('it started')),
    );
  });
}

/** As the log has it: several errors in one list, quotes escaped or lines indented. */
const bare = (text: string) =>
  text
    .replace(/^\[|\]$/g, '')
    .replaceAll('\\', '')
    .replaceAll('\n\t', '\n');

test.each(refused.map(([more, message]) => [message, more] as const))(
  'kube-apiserver: %s',
  async (message, more) => {
    const file = join(directory, 'authorization.yaml');
    const there = (text: string) => text.replaceAll('/there', join(directory, 'there'));
    await writeFile(file, there(encodeYaml({ ...kind, ...more })));
    expect(bare(await said(file))).toContain(bare(there(message)));
  },
);
