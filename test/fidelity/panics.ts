import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Panic } from './runner.ts';

/** Prints where kube-apiserver panicked; its log must tell of as many panics. */
export async function panicsAreLogged(panics: readonly Panic[], logs: string): Promise<boolean> {
  if (panics.length === 0) return true;
  const log = await readFile(join(logs, 'kube-apiserver.log'), 'utf8');
  const logged = log.match(/http: panic serving/g)?.length ?? 0;
  const ids = new Set(panics.map(({ case: { id }, step }) => `${id} step ${step}`));
  process.stdout.write(
    `kube-apiserver panicked on ${ids.size} requests, which are not compared (${logged} panics in its log): ${[...ids].join(', ')}\n`,
  );
  if (logged >= panics.length) return true;
  process.stdout.write(`${panics.length} connections hung up, more than panics\n`);
  return false;
}
