// The program that is installed: dist/bundle/main.js and a few pieces that it loads when it needs them. Most of the time
// between a process's start and its first work went into finding and reading a thousand modules, one by one.
import { chmodSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');
const folder = join(dist, 'bundle');

/** What a module of ours reads beside it stays where it is: its address is made from that of the piece. */
const addresses = {
  name: 'addresses',
  transform(code, id) {
    if (!id.startsWith(dist) || !code.includes('import.meta.url')) return null;
    const own = `new URL(${JSON.stringify(relative(folder, id))}, import.meta.url).href`;
    return { code: code.replaceAll('import.meta.url', own) };
  },
};

rmSync(folder, { recursive: true, force: true });
const bundle = await rolldown({
  input: join(dist, 'cli/main.js'),
  platform: 'node',
  // Native, or reads files of its own.
  external: [/^node:/, 'classic-level', '@grpc/grpc-js'],
  plugins: [addresses],
});
await bundle.write({ dir: folder, format: 'esm' });
await bundle.close();
chmodSync(join(folder, 'main.js'), 0o755);
