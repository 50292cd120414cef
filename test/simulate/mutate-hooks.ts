import type { LoadHook } from 'node:module';
import { bugs } from './bugs.ts';

/** A loader of modules that changes the source of those that the bug is in. */
export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context);
  const bug = bugs.find(({ name }) => name === process.env['SIMULATE_BUG']);
  const mine = (bug?.mutants ?? []).filter(({ file }) => url.endsWith(`/dist/${file}`));
  if (mine.length === 0) return loaded;
  let source = String(loaded.source);
  for (const { file, from, to } of mine) {
    if (!source.includes(from)) throw new Error(`${file} does not have "${from}"`);
    source = source.replace(from, () => to);
  }
  return { ...loaded, source };
};
