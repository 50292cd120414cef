import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { main, program } from '../../../cli/program.ts';
import { openLevel } from '../../../storage/level/level.ts';

let directory = '';
let out = '';
let err = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-program-'));
  vi.stubEnv('ATOLL_KUBECONFIG', '');
  vi.stubEnv('KUBECONFIG', '');
  vi.stubEnv('ATOLL_DATA_DIR', join(directory, 'data'));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += String(text);
    return true;
  });
});
beforeEach(() => {
  [out, err] = ['', ''];
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await rm(directory, { recursive: true, force: true });
});

const atoll = (...args: string[]) => main(['node', 'atoll', ...args]);

function leaves(command: Command, path: string[] = []): string[][] {
  if (command.commands.length === 0) return [path];
  return [path, ...command.commands.flatMap((child) => leaves(child, [...path, child.name()]))];
}

const add = 'cluster add east --kubeconfig x --in-cluster-server https://a'.split(' ');
const joined = (authority: string) => add.concat('--in-cluster-certificate-authority', authority);
const oidc = ['--oidc-issuer-url', 'https://login.example.com', '--oidc-client-id', 'atoll'];

describe('exit codes', () => {
  test.each(leaves(program()))('--help of %s %s is 0', async (...path) => {
    expect(await atoll(...path.filter(Boolean), '--help')).toBe(0);
    expect(out).toContain('Usage: atoll');
    expect(out).toMatch(/--atoll-kubeconfig <FILE> .*KUBECONFIG/);
    expect(out).toMatch(/\nExamples:\n|\nCommands:\n/);
    expect(out).not.toMatch(/default:\s+(false|\[\])/);
    // As it stands there it goes into a shell.
    expect(out).not.toMatch(/^ {2}atoll [^'"\n]*[^&]&[^&]/m);
  });

  test.each([
    [['drain'], '(atoll drain --help says more)'],
    [['cluster', 'add'], '(atoll cluster add --help says more)'],
    [['cluster', 'nonsense'], '(atoll cluster --help lists the commands)'],
    [['nonsense'], '(atoll --help lists the commands)'],
    [['remove', '--help'], "error: unknown command 'remove'\n(atoll --help lists the commands)"],
    [['help', 'nonsense'], "error: unknown command 'nonsense'\n(atoll --help lists the commands)"],
    [['cluster', 'help', 'nonsense'], "error: unknown command 'nonsense'\n(atoll cluster --help lists"],
    [['plan', 'nonsense', '--help'], "error: unknown command 'nonsense'\n(atoll plan --help lists"],
  ])('%j names the help that helps', async (args, help) => {
    expect(await atoll(...args)).toBe(2);
    expect(err).toContain(help);
    expect(out).toBe('');
  });

  test.each([
    [['help'], 'Usage: atoll [options]'],
    [['help', 'cluster'], 'Usage: atoll cluster [options]'],
    [['cluster', 'rm', '--help'], 'Usage: atoll cluster remove|rm [options]'],
    [['cluster', 'delete', '--help'], 'Usage: atoll cluster remove|rm [options]'],
    [['cluster', 'help', 'ls'], 'Usage: atoll cluster list|ls [options]'],
    [['restore', '--help'], 'ATOLL_DATA_DIR, default /'],
  ])('%j is help: 0', async (args, usage) => {
    expect(await atoll(...args)).toBe(0);
    expect(out.replace(/\n +/g, ' ')).toContain(usage);
    expect(err).toBe('');
  });

  test('--version is one word', async () => {
    expect(await atoll('--version')).toBe(0);
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test.each([
    [['nonsense'], "unknown command 'nonsense'"],
    [['start', '--nonsense'], "unknown option '--nonsense'"],
    [['demo', '--clusters', '0'], '--clusters 0: expected a number from 1 on'],
    [['demo', '--nodes', 'many'], '--nodes many: expected a number from 1 on'],
    [['cordon'], "missing required argument 'NAME'"],
    [['cluster', 'add', 'east'], "required option '--kubeconfig <FILE>' not specified"],
    [['cluster', 'add', 'EAST', '--kubeconfig', 'x'], '"EAST" is no name for a cluster'],
    [
      ['cluster', 'add', 'east', '--kubeconfig', 'x', '--wait', 'long'],
      '--wait long: expected a number of seconds',
    ],
    [['cluster', 'list', '-o', 'xml'], "argument 'xml' is invalid"],
    [['drain', 'east', '--timeout', '-1'], '--timeout -1: expected a number of seconds'],
    [['drain', 'east'], 'no kubeconfig for Atoll'],
    [['--atoll-kubeconfig', '/nowhere', 'drain', 'east'], 'kubeconfig /nowhere does not exist'],
    [['kubeconfig', 'Root'], '"Root" is not a logical cluster\'s name, such as root:team-a'],
    [['login', 'https://a'], "required option '--oidc-issuer-url <URL>' not specified"],
    [['login', 'here', ...oidc], '"here" is no server\'s URL, such as https://atoll.example.com:6443'],
    [['login', 'https://a', '--logical-cluster', 'A', ...oidc], '"A" is not a logical cluster\'s name'],
    [['login', '--context', 'a', ...oidc], '--context goes with a SERVER'],
    [['login', 'token', '--context', 'a', ...oidc], '--context is of `atoll login`'],
    [['start', '--listen', 'here'], '--listen here: expected HOST:PORT'],
    [['store', 'backup', '-'], 'a backup goes to a file'],
    [['store', 'backup', '/nowhere/x'], '/nowhere/x cannot be written: there is no folder /nowhere\n'],
    [['kubeconfig', '-o', '/nowhere/x'], '/nowhere/x cannot be written: there is no folder /nowhere\n'],
    [['kubeconfig', '-o', tmpdir()], `${tmpdir()} is a folder: name a file\n`],
    [['kubeconfig', '-o', '/nowhere/'], '/nowhere/ is a folder: name a file\n'],
    [['store', 'backup', `${tmpdir()}/`], 'exists: a backup never overwrites\n'],
    [['plan', '-f', tmpdir()], `-f ${tmpdir()}: that is a folder`],
    [['plan', '-f', '/nowhere'], '-f /nowhere: there is no such file'],
    [joined('/nowhere'), '--in-cluster-certificate-authority /nowhere cannot be read: ENOENT'],
    [
      joined('package.json'),
      '--in-cluster-certificate-authority package.json: there is no certificate in it\n',
    ],
    [['cluster', 'add', 'a', '--kubeconfig', 'x', '--label', '=b'], '--label =b: expected KEY=VALUE'],
    [['store', 'verify', '--data-dir', '/nowhere'], '--data-dir /nowhere: there is no store'],
  ])('%j is wrong use: 2', async (args, message) => {
    expect(await atoll(...args)).toBe(2);
    expect(err).toContain(message);
    expect(err).not.toContain('    at ');
  });

  test('a port that is taken is said with what to do: 1', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const listen = `127.0.0.1:${port}`;
    expect(await atoll('start', '--listen', listen, '--log-level', 'error')).toBe(1);
    const error = `${listen} is taken: stop what listens there, or choose another with --listen HOST:PORT`;
    expect(out).toBe(`error: ${error}\n`);
    expect(JSON.parse(err)).toMatchObject({ level: 'error', error });
    await new Promise((resolve) => taken.close(resolve));
  });

  test('a server that does not answer: 1', async () => {
    const file = join(directory, 'dead.yaml');
    const cluster = '{ name: a, cluster: { server: "https://127.0.0.1:1" } }';
    const rest =
      'users: [{ name: a, user: { token: t } }]\ncontexts: [{ name: a, context: { cluster: a, user: a } }]';
    await writeFile(
      file,
      `apiVersion: v1\nkind: Config\nclusters: [${cluster}]\n${rest}\ncurrent-context: a\n`,
    );
    expect(await atoll('--atoll-kubeconfig', file, 'cluster', 'list')).toBe(1);
    expect(err).toMatch(
      /^error: Atoll does not answer: .*\(kubeconfig .*dead.yaml\): start it \(atoll start\)/,
    );
  });

  test('version -o json', async () => {
    expect(await atoll('version', '-o', 'json')).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ atoll: '0.1.0', kubernetes: '1.36.3' });
  });
});

describe('a store of a later format', () => {
  test.each([
    ['start'],
    ['store', 'verify'],
    ['store', 'repair'],
    ['store', 'stats'],
    ['store', 'backup', 'x'],
  ])('is refused by %s %s in one sentence: 1', async (...command) => {
    const dataDir = join(directory, 'later');
    await mkdir(join(dataDir, 'store'), { recursive: true });
    await writeFile(join(dataDir, 'store', 'STORE'), '{"format":2,"state":"ready"}');
    expect(await atoll(...command.filter(Boolean), '--data-dir', dataDir)).toBe(1);
    expect(out + err).toContain(
      `error: the store in ${join(dataDir, 'store')} has format 2, a later version's`,
    );
    expect(err).not.toContain('    at ');
  });
});

describe('atoll store', () => {
  test('stats, verify, backup, restore', async () => {
    const dataDir = join(directory, 'kept');
    const store = await openLevel(join(dataDir, 'store'), { sync: false });
    await store.create('/core/configmaps/root/default/a', Buffer.from('{}'));
    await store.create('/apps/deployments/root/default/a', Buffer.from('{"a":1}'));
    await store.close();
    const file = join(directory, 'monday.backup');
    const at = ['--data-dir', dataDir];
    expect(await atoll('store', 'stats', ...at, '-o', 'json')).toBe(0);
    expect(JSON.parse(out)).toEqual({
      revision: 2,
      resources: [
        { resource: 'deployments.apps', objects: 1, bytes: 7 },
        { resource: 'configmaps', objects: 1, bytes: 2 },
      ],
    });
    expect(await atoll('store', 'verify', ...at)).toBe(0);
    expect(await atoll('store', 'repair', ...at)).toBe(0);
    expect(out).toContain('nothing was changed');
    expect(await atoll('store', 'backup', file, ...at)).toBe(0);
    expect(await atoll('store', 'backup', file, ...at)).toBe(2);
    expect(await atoll('store', 'restore', file, '--data-dir', join(directory, 'new'))).toBe(0);
    expect(out).toContain(
      `restored 2 objects to ${join(directory, 'new')}; revisions go on from 1000000002\n`,
    );
    expect(out).toContain(`atoll start --data-dir ${join(directory, 'new')}\n`);
    expect(await atoll('store', 'restore', file, '--data-dir', join(directory, 'new'))).toBe(1);
    expect(err).toContain('there is a store in');
  });

  test('a store that a server has open is left alone: 1', async () => {
    const dataDir = join(directory, 'open');
    const store = await openLevel(join(dataDir, 'store'), { sync: false });
    expect(await atoll('store', 'verify', '--data-dir', dataDir)).toBe(1);
    const next = 'stop that first, or name another --data-dir; of a running server: atoll backup FILE';
    expect(err).toMatch(/^error: the store is open in process \d+ \(.*OWNER\): (.*)\n$/);
    expect(err).toContain(`): ${next}\n`);
    err = '';
    expect(await atoll('start', '--data-dir', dataDir, '--listen', '127.0.0.1:0')).toBe(1);
    expect(out).toContain(next);
    const file = join(directory, 'tuesday.backup');
    expect(await atoll('store', 'backup', file, '--data-dir', dataDir)).toBe(1);
    expect(err).toContain(`of a running server: atoll backup ${file}`);
    await store.close();
  });
});
