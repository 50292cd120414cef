import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../../../client/client.ts';

export const processes = ['main', 'control'] as const;

/** What a process of the server does for so many seconds, as `node --cpu-prof` writes it, in the folder of BENCH_PROFILE, if any. */
export async function profile(
  client: Client,
  of: (typeof processes)[number],
  seconds: number,
): Promise<void> {
  const folder = process.env['BENCH_PROFILE'];
  if (folder === undefined) return;
  const which = of === 'main' ? '' : `&process=${of}`;
  const found = await client.json(`/debug/pprof/profile?seconds=${seconds}${which}`);
  await writeFile(join(folder, `${of}.cpuprofile`), JSON.stringify(found));
}
