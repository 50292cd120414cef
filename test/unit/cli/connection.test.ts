import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownKubeconfig, placeAsked } from '../../../cli/connection.ts';
import { UsageError } from '../../../cli/errors.ts';
import { currentOf } from '../../../client/merged-kubeconfig.ts';

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
    ownKubeconfig(flag, { ATOLL_DATA_DIR: at('data'), ...env }).files;

  test.each<[string, () => [Record<string, string>, string?], string]>([
    ['the flag before all', () => [{ ATOLL_KUBECONFIG: at('b'), KUBECONFIG: at('b') }, at('a')], 'a'],
    ['ATOLL_KUBECONFIG before KUBECONFIG', () => [{ ATOLL_KUBECONFIG: at('a'), KUBECONFIG: at('b') }], 'a'],
    ['KUBECONFIG before the data directory', () => [{ KUBECONFIG: at('a') }], 'a'],
    ['of several files those that are there', () => [{ KUBECONFIG: several('', 'none', 'a') }], 'a'],
    ['the data directory’s own', () => [{}], 'data/admin.kubeconfig'],
    ['an empty KUBECONFIG is none', () => [{ KUBECONFIG: '' }], 'data/admin.kubeconfig'],
    ['one that names no file is none', () => [{ KUBECONFIG: delimiter }], 'data/admin.kubeconfig'],
  ])('%s', (_what, given, name) => {
    expect(find(...given())).toBe(at(name));
  });

  test('several files are one, whose current context may name what another has', async () => {
    await writeFile(at('choice'), 'current-context: root:team-a');
    const entry = '[{ name: root:team-a, context: { cluster: c, user: ann } }]';
    await writeFile(at('ann'), `contexts: ${entry}\ncurrent-context: other`);
    const own = ownKubeconfig(undefined, { KUBECONFIG: several('choice', 'ann') });
    expect(own.files).toBe(several('choice', 'ann'));
    expect(currentOf(own.text).context?.fields).toEqual({ cluster: 'c', user: 'ann' });
  });

  test('a file that is none says which', async () => {
    await writeFile(at('broken'), '{');
    expect(() => find({}, at('broken'))).toThrow(`kubeconfig ${at('broken')} cannot be read: `);
  });

  test('a KUBECONFIG that is not there never becomes the administrator’s', () => {
    const [one, two] = [several('typo'), several('typo', 'none')];
    expect(() => find({ KUBECONFIG: one })).toThrow(new UsageError(`KUBECONFIG: ${one} does not exist`));
    expect(() => find({ KUBECONFIG: two })).toThrow(
      new UsageError(`KUBECONFIG: none of ${at('typo')}, ${at('none')} exists`),
    );
  });
});

describe('where a command is about', () => {
  const place = (flags: object, context = '') => {
    writeFileSync(
      at('place'),
      `clusters: [{ name: c, cluster: { server: "https://h/clusters/root:team-a" } }]
contexts: [{ name: x, context: { cluster: c${context} } }]
current-context: x`,
    );
    return placeAsked({ atollKubeconfig: at('place'), ...flags });
  };

  test.each<[string, object, string, object]>([
    ['the context, as for kubectl', {}, ', namespace: shop', { cluster: 'root:team-a', namespace: 'shop' }],
    ['default, where it names none', {}, '', { cluster: 'root:team-a', namespace: 'default' }],
    [
      'the flags before it',
      { logicalCluster: 'root', namespace: 'web' },
      ', namespace: shop',
      { cluster: 'root', namespace: 'web' },
    ],
  ])('%s', (_what, flags, context, expected) => {
    expect(place(flags, context)).toEqual(expected);
  });

  test('a logical cluster has a name of its kind', () => {
    expect(() => place({ logicalCluster: 'Team' })).toThrow(
      new UsageError('"Team" is not a logical cluster\'s name, such as root:team-a'),
    );
  });
});
