import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { certificatesIn } from '../../../cli/files.ts';

const block = (what: string, text: string) => `-----BEGIN ${what}-----\n${text}\n-----END ${what}-----\n`;

test('of a file of certificates nothing else is taken', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'files-'));
  const file = join(directory, 'ca.pem');
  const [first, second] = [block('CERTIFICATE', 'MIIB+/='), block('CERTIFICATE', 'MIIC')];
  await writeFile(file, `a note\n${first}${block('PRIVATE KEY', 'c2VjcmV0')}${second}`);
  expect(certificatesIn('--ca', file).toString()).toBe(first + second);
  await writeFile(file, block('PRIVATE KEY', 'c2VjcmV0'));
  expect(() => certificatesIn('--ca', file)).toThrow('there is no certificate in it');
  await rm(directory, { recursive: true });
});
