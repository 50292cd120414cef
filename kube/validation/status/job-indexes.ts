import { quoteGo } from '../../quote.ts';

type Interval = readonly [from: number, to: number];

const isInteger = /^[+-]?\d+$/;

/** `3` or `5-7`, below `completions`; what is wrong with it otherwise. */
function interval(text: string, completions: number): Interval | string {
  const parts = text.split('-');
  if (parts.length > 2) {
    return `the fragment ${quoteGo(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  }
  const [from, to = from] = parts.map(Number);
  for (const part of parts) {
    if (!isInteger.test(part)) return `cannot convert string to integer for index: ${quoteGo(part)}`;
    if (Number(part) >= completions) return `too large index: ${quoteGo(part)}`;
  }
  if (from === undefined || to === undefined) return '';
  return parts.length > 1 && from >= to
    ? `non-increasing order, previous: ${from}, current: ${to}`
    : [from, to];
}

function intervals(text: string, completions: number): (Interval | string)[] {
  return text === '' ? [] : text.split(',').map((each) => interval(each, completions));
}

/** What is wrong with a list such as `1,3-5`. https://kubernetes.io/docs/concepts/workloads/controllers/job/ */
export function indexesFault(text: string, completions: number): string | undefined {
  let last: number | undefined;
  for (const each of intervals(text, completions)) {
    if (typeof each === 'string') return each;
    if (last !== undefined && last >= each[0])
      return `non-increasing order, previous: ${last}, current: ${each[0]}`;
    last = each[1];
  }
  return undefined;
}

/** The first index that two lists share; what is no interval is passed over. */
export function sharedIndex(one: string, other: string, completions: number): number | undefined {
  const [left, right] = [one, other].map((text) =>
    intervals(text, completions).filter((each): each is Interval => typeof each !== 'string'),
  ) as [Interval[], Interval[]];
  for (let [i, j] = [0, 0]; ; ) {
    const [a, b] = [left[i], right[j]];
    if (!a || !b) return undefined;
    if (a[0] <= b[1] && b[0] <= a[1]) return Math.max(a[0], b[0]);
    if (a[0] <= b[0]) i++;
    else j++;
  }
}
