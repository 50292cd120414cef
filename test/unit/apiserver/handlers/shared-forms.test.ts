import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SharedForms } from '../../../../apiserver/handlers/watch/shared-forms.ts';
import type { Entry } from '../../../../storage/store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const entry = (revision: number): Entry => ({
  key: 'k',
  revision,
  created: 1,
  value: Buffer.from(`${revision}`),
});

/** How often a form was made of each. */
function asked(forms: SharedForms, of: Entry): number {
  let made = 0;
  forms.bytes('json', of, () => {
    made++;
    return Buffer.from('form');
  });
  return made;
}

test('whoever takes an event soon after the first takes what was made for that', () => {
  const [forms, one] = [new SharedForms(), entry(1)];
  expect(asked(forms, one)).toBe(1);
  vi.advanceTimersByTime(4_000);
  expect(asked(forms, one)).toBe(0);
});

test('what was made of events is not held for long where little happens, and no timer either', () => {
  const [forms, one] = [new SharedForms(), entry(1)];
  asked(forms, one);
  vi.advanceTimersByTime(15_000);
  expect(vi.getTimerCount()).toBe(0);
  expect(asked(forms, one)).toBe(1);
});

test('of many events those of before are held no longer', () => {
  const forms = new SharedForms();
  const all = Array.from({ length: 3_000 }, (_, i) => entry(i));
  for (const one of all) asked(forms, one);
  expect(asked(forms, all.at(-1) as Entry)).toBe(0);
  expect(asked(forms, all[0] as Entry)).toBe(1);
});
