import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { restoredNow } from '../server/restored.ts';
import { backup, restore } from '../storage/backup.ts';
import { openLevel } from '../storage/level/level.ts';
import { describeLosses } from '../storage/level/losses.ts';
import { repairLevel } from '../storage/level/repair.ts';
import { verifyLevel } from '../storage/level/verify.ts';
import { OwnedError, type Store } from '../storage/store.ts';
import { FailedError, UsageError } from './errors.ts';
import { refuseBackup } from './files.ts';
import { type OutputFormat, print, printJson, table } from './output.ts';

/** The store of a data directory, or the directory itself where it is a store: errors name that one. */
export function storeDirectory(dataDir: string): string {
  if (['STORE', 'db'].some((name) => existsSync(join(dataDir, name)))) return dataDir;
  const inside = join(dataDir, 'store');
  if (existsSync(inside)) return inside;
  throw new UsageError(`--data-dir ${dataDir}: there is no store`);
}

export async function verifyStore(dataDir: string, output: OutputFormat): Promise<void> {
  const report = await verifyLevel(storeDirectory(dataDir));
  if (output === 'json') printJson(report);
  const { records, revision, problems } = report;
  if (!report.ok)
    throw new FailedError(
      `the store is damaged:\n${indented(problems)}\nto save what can be read: atoll store repair --data-dir ${dataDir}`,
    );
  if (output === 'text') print(`the store is whole: ${records} records, revision ${revision}`);
}

export async function repairStore(dataDir: string, output: OutputFormat): Promise<void> {
  const report = await repairLevel(storeDirectory(dataDir));
  if (output === 'json') return printJson(report);
  if (report.problems.length === 0)
    return print(`the store is whole: nothing was changed, revision ${report.revision}`);
  print(`repaired: ${report.entries} objects are left, revision ${report.revision}`);
  print(`what was wrong:\n${indented(report.problems)}`);
  const losses = describeLosses(report.losses);
  if (losses.length > 0) print(`what is lost, unless something newer had replaced it:\n${indented(losses)}`);
  if (report.kept) print(`the damaged database is kept in ${report.kept}`);
}

export async function backupStore(dataDir: string, file: string, output: OutputFormat): Promise<void> {
  refuseBackup(file);
  const done = await withStore(dataDir, (store) => backup(store, file)).catch((error: unknown) => {
    if (!(error instanceof OwnedError)) throw error;
    throw new FailedError(`${error.message}; of a running server: atoll backup ${file}`);
  });
  if (output === 'json') return printJson({ file, ...done });
  print(`backed up ${done.entries} objects as of revision ${done.revision} to ${file}`);
}

export async function restoreStore(dataDir: string, file: string, output: OutputFormat): Promise<void> {
  if (!existsSync(file)) throw new UsageError(`${file} does not exist`);
  const done = await restore(file, join(dataDir, 'store'), { more: restoredNow() });
  if (output === 'json') return printJson({ file, dataDir, ...done });
  print(`restored ${done.entries} objects to ${dataDir}; revisions go on from ${done.revision}`);
  print(`to serve them: atoll start --data-dir ${dataDir}`);
}

interface ResourceCount {
  resource: string;
  objects: number;
  bytes: number;
}

/** How many objects there are of each resource and how large they are, largest first. */
export async function storeStats(dataDir: string, output: OutputFormat): Promise<void> {
  const { revision, counts } = await withStore(dataDir, async (store) => ({
    revision: store.revision,
    counts: await countByResource(store),
  }));
  if (output === 'json') return printJson({ revision, resources: counts });
  const rows = counts.map((row) => [row.resource, String(row.objects), String(row.bytes)]);
  print(table(['RESOURCE', 'OBJECTS', 'BYTES'], rows));
  print(`revision ${revision}`);
}

async function countByResource(store: Store): Promise<ResourceCount[]> {
  const counts = new Map<string, ResourceCount>();
  const { revision } = store;
  let after: string | undefined;
  for (let more = true; more; ) {
    const page = await store.list(
      { start: '', end: '\x7f' },
      { revision, limit: 1000, ...(after !== undefined && { after }) },
    );
    for (const { key, value } of page.entries) {
      const [, group = '', resource = ''] = key.split('/');
      const name = group === 'core' ? resource : `${resource}.${group}`;
      const row = counts.get(name) ?? { resource: name, objects: 0, bytes: 0 };
      counts.set(name, { ...row, objects: row.objects + 1, bytes: row.bytes + value.length });
    }
    after = page.entries.at(-1)?.key;
    more = page.more;
  }
  return [...counts.values()].sort((a, b) => b.bytes - a.bytes);
}

async function withStore<T>(dataDir: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openLevel(storeDirectory(dataDir));
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}
