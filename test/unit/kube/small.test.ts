import { describe, expect, it } from 'vitest';
import { sleep } from '../../../kube/clock.ts';
import { formatApiVersion, groupResource, parseApiVersion } from '../../../kube/gvk.ts';
import { regex, regexProblem } from '../../../kube/regex.ts';
import { labelSelectorFromSet, parseLabelSelector, selectsNothing } from '../../../kube/selector.ts';

describe('group and version', () => {
  it.each([
    ['v1', '', 'v1', 'pods', 'pods'],
    ['apps/v1', 'apps', 'v1', 'deployments', 'deployments.apps'],
    ['a.b/v1beta1', 'a.b', 'v1beta1', 'x', 'x.a.b'],
    ['', '', '', 'x', 'x'],
    ['a/b/c', 'a', 'b/c', 'x', 'x.a'],
  ])('%s', (text, group, version, resource, qualified) => {
    expect(parseApiVersion(text)).toEqual({ group, version });
    expect(formatApiVersion({ group, version })).toBe(text);
    expect(groupResource({ group, resource })).toBe(qualified);
  });
});

describe('regular expressions are those of Go', () => {
  it.each<[string, string, boolean]>([
    ['^a+$', 'aaa', true],
    ['^a+$', 'ab', false],
    ['(?i)ABC', 'abc', true],
    ['\\pL', 'é', true],
    ['^(a+)+$', `${'a'.repeat(50_000)}b`, false],
  ])('%s', (expression, text, matches) => {
    expect(regex(expression)?.matcher(text).find()).toBe(matches);
    expect(regexProblem(expression)).toBeUndefined();
  });

  it.each(['(', 'a**', '(?=a)', '\\1'])('%s is none', (expression) => {
    expect(regex(expression)).toBeUndefined();
    expect(regexProblem(expression)).toMatch(/error parsing regexp/);
  });
});

describe('sleep', () => {
  /** Time passes when somebody says so. */
  function clockOf() {
    const waiting = new Set<() => void>();
    return {
      waiting,
      now: () => 0,
      after: (_ms: number, run: () => void) => {
        waiting.add(run);
        return () => waiting.delete(run);
      },
    };
  }

  it('ends when the time has come, or at once when it is given up; nothing is left behind', async () => {
    const clock = clockOf();
    const slept = sleep(1000, undefined, clock);
    for (const run of clock.waiting) run();
    await slept;
    expect(clock.waiting.size).toBe(0);
    const given = new AbortController();
    const waited = sleep(1000, given.signal, clock);
    expect(clock.waiting.size).toBe(1);
    given.abort();
    await waited;
    expect(clock.waiting.size).toBe(0);
    await sleep(1000, given.signal, clock);
    expect(clock.waiting.size).toBe(0);
  });
});

describe('selectors', () => {
  it.each([
    [labelSelectorFromSet({}), {}, true],
    [labelSelectorFromSet({ a: '1' }), { a: '1', b: '2' }, true],
    [labelSelectorFromSet({ a: '1' }), undefined, false],
    [selectsNothing, {}, false],
    [parseLabelSelector('a>4'), { a: '+5' }, true],
    [parseLabelSelector('a<5'), { a: '99999999999999999999' }, false],
    [parseLabelSelector('a notin (b,,c)'), { a: '' }, false],
  ])('%# matches %j: %s', (selector, labels, expected) => {
    expect(selector.matches(labels)).toBe(expected);
  });
});
