// The Go modules that types/go.mod pins, as folders of Go's module cache.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** By its name, `v1.36.3`. */
export function moduleVersions() {
  const text = readFileSync(new URL('./types/go.mod', import.meta.url), 'utf8');
  return new Map(
    [...text.matchAll(/^\t(k8s\.io\/\S+) (v\S+)$/gm)].map(([, name, version]) => [name, version]),
  );
}

export function moduleFolder(name) {
  const module = `${name}@${moduleVersions().get(name)}`;
  return JSON.parse(execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' })).Dir;
}
