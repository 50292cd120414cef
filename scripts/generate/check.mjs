// Fails where something that table.mjs lists, or what writes it, is not as `make generate` left it. Needs neither Go
// nor a network: the inputs are pinned by version in types/go.mod, which is among what is compared.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf, hashesOf, readLock, root } from './lock.mjs';
import { moduleVersions } from './modules.mjs';
import { generated, recorded } from './table.mjs';

const problems = [];
const lock = readLock();

/** @param hint what mends it */
function compare(known, now, hint) {
  for (const path of new Set([...Object.keys(known ?? {}), ...Object.keys(now)])) {
    if (known?.[path] !== now[path]) problems.push(`${path} is not as it was generated: ${hint}`);
  }
}

for (const { name, by, files } of generated) {
  compare(lock[name]?.files, hashesOf(files), 'nobody edits it, make generate writes it');
  compare(lock[name]?.by, hashesOf(by.flatMap(filesOf)), 'run make generate');
}
compare(
  lock.recorded?.files,
  hashesOf(recorded),
  'it was recorded; make generate takes note of a new recording',
);

const listed = new Set(generated.flatMap(({ files }) => files));
const apart = new Set(['node_modules', 'dist', 'coverage', '.git']);
for (const path of readdirSync(root)
  .filter((name) => !apart.has(name))
  .flatMap(filesOf)) {
  if (/(^|\/)generated\//.test(path) && !listed.has(path))
    problems.push(`${path} is in no entry of table.mjs`);
}

// One Kubernetes: the types', the one that is run beside, and the one that is claimed.
const version = moduleVersions().get('k8s.io/kubernetes')?.slice(1);
const others = {
  'test/kubernetes/build': /^kubernetes=(\S+)/m,
  'test/conformance/build': /^kubernetes=(\S+)/m,
  'kube/rbac/bootstrap.ts': /bootstrapVersion = '([^']+)'/,
  'server/version.ts': /kubernetesVersion = '([^']+)'/,
};
for (const [path, pattern] of Object.entries(others)) {
  const found = pattern.exec(readFileSync(join(root, path), 'utf8'))?.[1];
  if (found !== version) problems.push(`${path} is of Kubernetes ${found}, the types are of ${version}`);
}

for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
