import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { sleep } from '../../../kube/clock.ts';
import { isTimeout, within } from '../../../kube/within.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

let collecting: NodeJS.Timeout | undefined;
afterEach(() => clearInterval(collecting));

/** Of what nobody answers, as a connection to a mute server waits. */
const mute = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

test('what is not answered ends in time, whatever is collected meanwhile', async () => {
  const life = new AbortController();
  collecting = setInterval(collect, 5);
  const ends = Array.from({ length: 20 }, async () => {
    const outer = AbortSignal.any([life.signal, new AbortController().signal]);
    return await within(100, outer, mute).catch((error: Error) => error.name);
  });
  const late = sleep(5000).then(() => 'never');
  expect(await Promise.race([Promise.all(ends), late])).toEqual(Array(20).fill('TimeoutError'));
  expect(life.signal.aborted).toBe(false);
});

test('it ends as the signal that it is given does, and says which it was', async () => {
  const life = new AbortController();
  let given: AbortSignal | undefined;
  const waiting = within(60_000, life.signal, (signal) => {
    given = signal;
    return mute(signal);
  });
  life.abort(new Error('the caller went'));
  await expect(waiting).rejects.toThrow('the caller went');
  expect(given && isTimeout(given)).toBe(false);
  await within(1, undefined, async (signal) => {
    await mute(signal).catch(() => {});
    expect(isTimeout(signal)).toBe(true);
  });
});

test('an answer is the answer, and nothing is aborted after it', async () => {
  let given: AbortSignal | undefined;
  const answer = await within(20, undefined, async (signal) => {
    given = signal;
    return 'answer';
  });
  expect(answer).toBe('answer');
  await sleep(60);
  expect(given?.aborted).toBe(false);
});

test('nothing of it is left on the signal that it was given', async () => {
  const life = new AbortController();
  const answers = Array.from({ length: 20 }, () => within(60_000, life.signal, async () => 'answer'));
  expect(getEventListeners(life.signal, 'abort').length).toBe(20);
  await Promise.all(answers);
  expect(getEventListeners(life.signal, 'abort').length).toBe(0);
  life.abort(new Error('the caller went'));
  const late = within(60_000, life.signal, async (signal) => signal.throwIfAborted());
  await expect(late).rejects.toThrow('the caller went');
});
