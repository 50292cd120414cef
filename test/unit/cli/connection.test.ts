import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findKubeconfig } from '../../../cli/connection.ts';
import { UsageError } from '../../../cli/errors.ts';

let directory = '';
const at = (name: string) => join(directory, name);
const several = (...names: string[]) => names.map((name) => (name === '' ? '' : at(name))).join(delimiter);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-connection-'));
  await mkdir(at('data'));
  for (const name of ['data/admin.kubeconfig', 'a', 'b']) await writeFile(at(name), '');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('which kubeconfig leads to Atoll', () => {
  const find = (env: Record<string, string>, flag?: string) =>
    findKubeconfig(flag, { ATOLL_DATA_DIR: at('data'), ...env });

  test.each<[string, () => [Record<string, string>, string?], string]>([
    ['the flag before all', () => [{ ATOLL_KUBECONFIG: at('b'), KUBECONFIG: at('b') }, at('a')], 'a'],
    ['ATOLL_KUBECONFIG before KUBECONFIG', () => [{ ATOLL_KUBECONFIG: at('a'), KUBECONFIG: at('b') }], 'a'],
    ['KUBECONFIG before the data directory', () => [{ KUBECONFIG: at('a') }], 'a'],
    ['of several files the first', () => [{ KUBECONFIG: several('b', 'a') }], 'b'],
    ['of several files the first that is there', () => [{ KUBECONFIG: several('', 'none', 'a') }], 'a'],
    ['the data directory’s own', () => [{}], 'data/admin.kubeconfig'],
    ['an empty KUBECONFIG is none', () => [{ KUBECONFIG: '' }], 'data/admin.kubeconfig'],
    ['one that names no file is none', () => [{ KUBECONFIG: delimiter }], 'data/admin.kubeconfig'],
  ])('%s', (_what, given, name) => {
    expect(find(...given())).toBe(at(name));
  });

  test('a KUBECONFIG that is not there never becomes the administrator’s', () => {
    const [one, two] = [several('typo'), several('typo', 'none')];
    expect(() => find({ KUBECONFIG: one })).toThrow(new UsageError(`KUBECONFIG: ${one} does not exist`));
    expect(() => find({ KUBECONFIG: two })).toThrow(
      new UsageError(`KUBECONFIG: none of ${at('typo')}, ${at('none')} exists`),
    );
  });
});
