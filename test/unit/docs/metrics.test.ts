import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { definitions } from '../../../server/metrics/definitions.ts';
import { Metrics } from '../../../server/metrics/metrics.ts';
import { ProcessMetrics } from '../../../server/metrics/process.ts';

const root = resolve(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/reference/metrics.md'), 'utf8');
const processes = (await new ProcessMetrics().families()).map(({ definition }) => definition);

it('metrics.md lists every metric, with its type and labels, and no other', () => {
  const listed = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| (.*?) \| /gm)].map(
    ([, name, type, labels = '']) => [name, type, labels.replaceAll('`', '')].join(' | '),
  );
  const known = [...definitions, ...processes].map(({ name, type, labels }) =>
    [name, type, labels.join(', ')].join(' | '),
  );
  expect(listed.sort()).toEqual(known.sort());
});

it('what a process counts is defined', async () => {
  const names = new Set([...definitions, ...processes].map(({ name }) => name));
  const families = await new Metrics().families();
  expect(families.filter(({ definition }) => !names.has(definition.name))).toEqual([]);
});
