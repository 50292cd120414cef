import { expect, test } from 'vitest';
import { isAsExpected, readSpecs, type Section, sections } from '../../conformance/specs.ts';

const read = (section: Section, only = /./) => readSpecs('test/conformance', section, only);

test('sections name each spec once, and expect failures of their own specs only', async () => {
  const lists = await Promise.all(sections.map((section) => read(section)));
  const all = lists.flatMap(({ names }) => names);
  expect(new Set(all).size).toBe(all.length);
  for (const { names, expectedToFail } of lists)
    for (const name of expectedToFail) expect(names).toContain(name);
});

test('who is tagged [Conformance] is in A or B, or needs what others do not', async () => {
  for (const section of sections) {
    const { names } = await read(section);
    // Of both kinds is what takes long or is to run alone, and what needs Jobs that run on.
    if (section === 'E' || section === 'F') continue;
    const isTagged = section === 'A' || section === 'B';
    expect(names.filter((name) => name.includes('[Conformance]') !== isTagged)).toEqual([]);
  }
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
