// bundle.mjs [DIR]: DIR is a folder in dist/.
// The program that is installed: dist/bundle/main.js and a few pieces that it loads when it needs them. Most of the time
// between a process's start and its first work went into finding and reading a thousand modules, one by one.
import { chmodSync, existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist');
const folder = resolve(process.argv[2] ?? join(dist, 'bundle'));

/** What a module of ours reads beside it stays where it is: its address is made from that of the piece. */
const addresses = {
  name: 'addresses',
  transform(code, id) {
    if (!id.startsWith(dist) || !code.includes('import.meta.url')) return null;
    const own = `new URL(${JSON.stringify(relative(folder, id))}, import.meta.url).href`;
    return { code: code.replaceAll('import.meta.url', own) };
  },
};

// Until it is whole the former one stays: somebody may start it.
const [fresh, former] = [`${folder}.new`, `${folder}.old`];
const remove = (path) => rmSync(path, { recursive: true, force: true });
remove(fresh);
remove(former);
const bundle = await rolldown({
  input: join(dist, 'cli/main.js'),
  platform: 'node',
  // Native, or reads files of its own.
  external: [/^node:/, 'classic-level', '@grpc/grpc-js'],
  plugins: [addresses],
});
await bundle.write({ dir: fresh, format: 'esm' });
await bundle.close();
chmodSync(join(fresh, 'main.js'), 0o755);
if (existsSync(folder)) renameSync(folder, former);
renameSync(fresh, folder);
remove(former);
