// Runs the program in types/ over the published modules.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { moduleFolder, moduleVersions } from './modules.mjs';

export function write(root) {
  const modules = [...moduleVersions().keys()].map((name) => `${name}=${moduleFolder(name)}`);
  const cwd = fileURLToPath(new URL('./types', import.meta.url));
  execFileSync('go', ['run', '.', '-out', root, ...modules], { cwd, stdio: 'inherit' });
}
