import type { Random } from '../random.ts';

/**
 * One kind of hostile input. A case is a list of texts, so that whatever fails can be made smaller without knowing what it
 * is.
 */
export interface Family {
  readonly name: string;
  /** Its share of the cases, relative to the other families'. */
  readonly share: number;
  make(random: Random): string[];
  /** What is wrong, in a sentence; undefined: nothing, or the texts are no case. Throws: that is wrong, too. */
  judge(texts: readonly string[]): string | undefined | Promise<string | undefined>;
}

/** More of a processor than anything takes that ends. */
const longestMs = 20_000;
/** What hangs is not waited for; on a busy machine nobody else is either. */
const hangsMs = 120_000;

/** What is wrong with a case, a throw and a hang among it. */
export async function problemOf(family: Family, texts: readonly string[]): Promise<string | undefined> {
  const began = process.cpuUsage();
  try {
    const judged = family.judge(texts);
    const found = judged instanceof Promise ? await bounded(judged) : judged;
    if (found !== undefined) return found;
  } catch (error) {
    return error instanceof Error ? `threw ${error.stack ?? error.message}` : `threw ${String(error)}`;
  }
  const { user, system } = process.cpuUsage(began);
  const took = (user + system) / 1000;
  return took > longestMs ? `took ${Math.round(took)} ms of a processor` : undefined;
}

async function bounded(judged: Promise<string | undefined>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('did not end'), hangsMs);
  });
  const found = await Promise.race([judged, late]);
  clearTimeout(timer);
  return found;
}

const mostTries = 2000;

/** The smallest case that is still wrong, as far as it is found by leaving out texts and parts of them. */
export async function shrunk(family: Family, texts: readonly string[]): Promise<string[]> {
  let best = [...texts];
  let tries = 0;
  const isWrong = async (candidate: string[]) =>
    tries++ < mostTries && (await problemOf(family, candidate)) !== undefined;
  for (let smaller = true; smaller && tries < mostTries; ) {
    smaller = false;
    for (const candidate of candidates(best)) {
      if (!(await isWrong(candidate))) continue;
      best = candidate;
      smaller = true;
      break;
    }
  }
  return best;
}

/** Smaller ones, the smallest first. */
function* candidates(texts: readonly string[]): Generator<string[]> {
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i] ?? '';
    const put = (other: string) => texts.map((each, at) => (at === i ? other : each));
    if (text === '') continue;
    yield put('');
    for (let part = Math.ceil(text.length / 2); part >= 1; part = part === 1 ? 0 : Math.ceil(part / 2)) {
      for (let from = 0; from < text.length; from += part) {
        const left = text.slice(0, from) + text.slice(from + part);
        if (left !== text && left !== '') yield put(left);
      }
    }
  }
}
