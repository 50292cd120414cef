import { readFile } from 'node:fs/promises';
import { StoreError } from '../store.ts';
import type { EtcdOptions, EtcdSecrets } from './options.ts';

/**
 * What follows `etcd:` in the name of a store:
 * `//[USER:PASSWORD@]HOST:PORT[,HOST:PORT...][/PREFIX][?ca=FILE&cert=FILE&key=FILE&username=NAME&password-file=FILE]`.
 * With `ca` or `tls=true` the connection is encrypted; without `ca` the system's authorities are trusted.
 */
export interface EtcdUrl {
  endpoints: string[];
  prefix?: string;
  username?: string;
  password?: string;
  /** Names of files. */
  files: { ca?: string; cert?: string; key?: string; password?: string };
  tls: boolean;
}

const SETTINGS = new Set(['ca', 'cert', 'key', 'username', 'password-file', 'tls']);

export function parseEtcdUrl(rest: string): EtcdUrl {
  const [, user, hosts = '', path = '', query = ''] =
    /^\/\/(?:([^@/?]*)@)?([^/?]*)(\/[^?]*)?(?:\?(.*))?$/.exec(rest) ?? [];
  const endpoints = hosts.split(',').filter((host) => host !== '');
  if (endpoints.length === 0) throw wrong('names no HOST:PORT');
  const settings = new URLSearchParams(query);
  for (const name of settings.keys()) if (!SETTINGS.has(name)) throw wrong(`has the unknown setting ${name}`);
  const setting = (name: string): string | undefined => settings.get(name) ?? undefined;
  const { ca, cert, key, password } = {
    ca: setting('ca'),
    cert: setting('cert'),
    key: setting('key'),
    password: setting('password-file'),
  };
  if ((cert === undefined) !== (key === undefined)) throw wrong('has only one of cert and key');
  const [name, secret] = user === undefined ? [setting('username')] : user.split(/:(.*)/s);
  const prefix = withoutLastSlashes(path);
  return {
    endpoints: endpoints.map(withPort),
    ...(prefix !== '' && { prefix }),
    ...(name !== undefined && { username: decodeURIComponent(name) }),
    ...(secret !== undefined && { password: decodeURIComponent(secret) }),
    files: {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(password !== undefined && { password }),
    },
    tls: ca !== undefined || cert !== undefined || setting('tls') === 'true',
  };
}

/** Reads the files that the URL names. */
export async function etcdOptions(rest: string): Promise<EtcdOptions> {
  const url = parseEtcdUrl(rest);
  const { endpoints, prefix, username, files } = url;
  return {
    endpoints,
    ...(prefix !== undefined && { prefix }),
    ...(username !== undefined && { username }),
    ...(await secretsOf(url)),
    ...(Object.keys(files).length > 0 && { reread: () => secretsOf(url) }),
  };
}

async function secretsOf({ files, tls, password }: EtcdUrl): Promise<EtcdSecrets> {
  const read = async (file: string | undefined): Promise<string | undefined> => {
    if (file === undefined) return undefined;
    return readFile(file, 'utf8').catch((cause: unknown) => {
      throw new StoreError('unavailable', `etcd: ${file} cannot be read`, { cause });
    });
  };
  const [ca, cert, key, secret] = [
    await read(files.ca),
    await read(files.cert),
    await read(files.key),
    (await read(files.password))?.trim() ?? password,
  ];
  return {
    ...(tls && {
      tls: {
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
      },
    }),
    ...(secret !== undefined && { password: secret }),
  };
}

function withPort(host: string): string {
  return /:\d+$/.test(host) ? host : `${host}:2379`;
}

function wrong(what: string): StoreError {
  return new StoreError('unavailable', `the etcd URL ${what}`);
}

function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}
