import { setImmediate as turn } from 'node:timers/promises';
import { codecsWith, knownBugs, respelled } from '../fuzz/bugs.ts';
import { codecFamilies } from '../fuzz/codecs.ts';
import { type Family, problemOf, shrunk } from '../fuzz/family.ts';
import { requestFamilies } from '../fuzz/requests.ts';
import type { FaultPart, Run, RunResult } from '../part.ts';
import { Random } from '../random.ts';

const CASES = 20_000;
/** Of one run: each is made smaller, which takes a while. */
const MOST_FAILURES = 3;

let families: Family[] = [];

/** No server is started: the parsers and codecs themselves, and the server's own ladder without a socket. */
export const fuzz: FaultPart = {
  name: 'fuzz',
  about: `hostile paths, headers, tokens and keys, ${CASES} a run: typed errors alone, no way into another logical cluster`,
  runs: 300,
  weight: 5,
  parallel: 1,
  bugs: knownBugs,
  async prepare({ bug }) {
    const served = await requestFamilies(bug === 'other-spelling' ? respelled : undefined);
    families = [...codecFamilies(codecsWith(bug)), ...served.families];
    return served.close;
  },
  run,
};

async function run({ seed, signal }: Run): Promise<RunResult> {
  const random = new Random(seed);
  const counts: Record<string, number> = {};
  const failures: string[] = [];
  let ops = 0;
  while (ops < CASES && failures.length < MOST_FAILURES && !signal.aborted) {
    const family = pick(random);
    const texts = family.make(random);
    counts[family.name] = (counts[family.name] ?? 0) + 1;
    if (ops++ % 1000 === 0) await turn();
    if ((await problemOf(family, texts)) === undefined) continue;
    const smallest = await shrunk(family, texts);
    const what = (await problemOf(family, smallest)) ?? 'fails no more when it is tried again';
    failures.push(`${family.name} ${JSON.stringify(smallest)}: ${what}`);
  }
  return { ops, faults: 0, failures, counts };
}

function pick(random: Random): Family {
  let left = random.below(families.reduce((sum, { share }) => sum + share, 0));
  const found = families.find(({ share }) => {
    left -= share;
    return left < 0;
  });
  if (found === undefined) throw new Error('there are no families');
  return found;
}
