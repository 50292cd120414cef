// What the compiled program reads beside its modules: data that tsc leaves where it is.
import { cpSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const asset = /\.(json|json\.gz|yaml)$/;

for (const folder of ['kube', 'sim', 'storage', 'test/fidelity']) {
  for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !asset.test(entry.name)) continue;
    const source = join(entry.parentPath, entry.name);
    cpSync(source, join(root, 'dist', source.slice(root.length)));
  }
}
