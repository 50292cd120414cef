// main.mjs [NAME...]: writes all that table.mjs lists, or the named parts of it, and what it was into lock.json.
// A file that holds what it held stays as it is: how a compressor packs it may change from release to release.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { filesOf, hashesOf, lockFile, readLock, root } from './lock.mjs';
import { generated, recorded } from './table.mjs';

const names = process.argv.slice(2);
const parts = generated.map(({ name }) => name);
const unknown = names.filter((name) => !parts.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`there is no part ${unknown.join(', ')}; there are: ${parts.join(', ')}\n`);
  process.exit(2);
}
const chosen = generated.filter(({ name }) => names.length === 0 || names.includes(name));

const lock = readLock();
for (const { name, from, by, files } of chosen) {
  const { write } = await import(`./${name}.mjs`);
  const folder = mkdtempSync(join(tmpdir(), 'atoll-generate-'));
  try {
    process.stdout.write(`${name}: ${from}\n`);
    await write(folder);
    for (const file of files) keep(file, join(folder, file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  lock[name] = { by: hashesOf(by.flatMap(filesOf)), files: hashesOf(files) };
}
lock.recorded = { files: hashesOf(recorded) };
writeFileSync(lockFile, `${JSON.stringify(lock, undefined, 2)}\n`);

function keep(file, fresh) {
  const known = join(root, file);
  const same = existsSync(known) && contentOf(known).equals(contentOf(fresh));
  if (!same) cpSync(fresh, known);
  process.stdout.write(`  ${file}: ${same ? 'as it was' : 'written'}\n`);
}

function contentOf(path) {
  const bytes = readFileSync(path);
  if (path.endsWith('.gz')) return gunzipSync(bytes);
  return path.endsWith('.br') ? brotliDecompressSync(bytes) : bytes;
}
