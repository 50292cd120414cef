// What was generated last, and by what: lock.json. Needs neither Go nor a network.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const lockFile = fileURLToPath(new URL('./lock.json', import.meta.url));

export function readLock() {
  return existsSync(lockFile) ? JSON.parse(readFileSync(lockFile, 'utf8')) : {};
}

/** `path` and, of a folder, all that is in it. */
export function filesOf(path) {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesOf(`${path}/${name}`));
}

export function hashOf(path) {
  const file = join(root, path);
  return existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'none';
}

export function hashesOf(paths) {
  return Object.fromEntries(paths.map((path) => [path, hashOf(path)]));
}
