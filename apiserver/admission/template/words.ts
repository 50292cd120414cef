import type { PodAdmission } from '../../../cluster/pod-admission.ts';

/** In characters. */
const longest = 4096;
/** Of one template. Whoever takes turns with others in refusing it would be told of for ever. */
const mostTimes = 16;

/**
 * What is kept of a refusal of a template that was refused `before`, as long as it is the same: its first text, where another has but other
 * numbers, times or ids in it. Each text is a write, of which everybody hears who watches the workload and may write it for that.
 */
export function refusalAfter(
  before: PodAdmission | undefined,
  text: string,
): Pick<PodAdmission, 'refused' | 'times'> {
  const refused = text.slice(0, longest);
  if (before?.refused === undefined) return { refused };
  const { times = 0 } = before;
  if (times >= mostTimes || wordsOf(before.refused) === wordsOf(refused))
    return { refused: before.refused, ...(times > 0 && { times }) };
  return { refused, times: times + 1 };
}

const id = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const word = /[\p{L}\p{N}]+/gu;
const numbers = /0([-.:+_/]0)*/g;

/** Word by word: one expression for a word with a digit in it looks through the rest of a long one from each of its letters. */
function wordsOf(text: string): string {
  const said = text.replace(id, '0').replace(word, (one) => (/\p{N}/u.test(one) ? '0' : one));
  return said.replace(numbers, '0');
}
