import { expect, test } from 'vitest';
import { isAsExpected, readSpecs, type Section } from '../../conformance/specs.ts';

const read = (section: Section, only = /./) => readSpecs('test/conformance', section, only);

test('sections name each spec once, and expect failures of their own specs only', async () => {
  const [a, b] = [await read('A'), await read('B')];
  const all = [...a.names, ...b.names];
  expect(new Set(all).size).toBe(all.length);
  for (const { names, expectedToFail } of [a, b])
    for (const name of expectedToFail) expect(names).toContain(name);
});

test('only those that match', async () => {
  const { names } = await read('A', /Secrets/);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !name.includes('Secrets'))).toEqual([]);
});

test.each([
  ['passed', true, false],
  ['failed', false, true],
  ['timedout', false, true],
  ['interrupted', false, true],
  ['panicked', false, true],
  ['skipped', false, false],
  ['not run', false, false],
])('%s is as expected: %s; where a failure is expected: %s', (state, ofOthers, ofFailing) => {
  expect([isAsExpected(state, false), isAsExpected(state, true)]).toEqual([ofOthers, ofFailing]);
});
