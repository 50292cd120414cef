import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeYaml } from '../../../kube/yaml.ts';
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

describe('what is deployed with it', () => {
  const known = new Map([...definitions, ...processes].map((definition) => [definition.name, definition]));
  const read = (file: string) => readFileSync(join(root, 'deploy', file), 'utf8');
  /** Each metric that an expression names, with the labels that it asks of it. */
  const named = (text: string) =>
    [...text.matchAll(/\b((?:apiserver|atoll|etcd|workqueue|process|nodejs)_\w+)(?:\{(.*?)\})?/g)].map(
      ([, name = '', labels = '']) => ({
        name,
        labels: [...labels.matchAll(/(\w+)(?:=~|!~|!=|=)\\?"/g)].map(([, label = '']) => label),
      }),
    );
  /** What it is that has this name; a histogram's figures have its name and more. */
  const definitionOf = (name: string) => {
    const histogram = known.get(name.replace(/_(bucket|sum|count)$/, ''));
    return known.get(name) ?? (histogram?.type === 'histogram' ? histogram : undefined);
  };
  const boards = JSON.parse(read('grafana/atoll.json')) as { panels: { targets: { expr: string }[] }[] };
  const shown = boards.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const rules = decodeYaml(read('prometheus/atoll.rules.yaml')).value as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  const alerts = rules.groups.flatMap((group) => group.rules);

  it.each([
    ['dashboard', shown],
    ['alert rules', alerts.map(({ expr }) => expr)],
    ['tests of the rules', read('prometheus/atoll.rules.test.yaml').match(/series: '.*'/g) ?? []],
  ])('names metrics and labels that exist: %s', (_, texts) => {
    const all = texts.flatMap(named);
    expect(all.length).toBeGreaterThan(15);
    const wrong = all.filter(({ name, labels }) => {
      const definition = definitionOf(name);
      const has = [...(definition?.labels ?? []), 'le', 'job', 'instance'];
      return definition === undefined || labels.some((label) => !has.includes(label));
    });
    expect(wrong).toEqual([]);
  });

  it('has a test of each alert', () => {
    const tested = read('prometheus/atoll.rules.test.yaml');
    expect(alerts.filter(({ alert }) => !tested.includes(`alertname="${alert}"`))).toEqual([]);
  });

  it('has each of our own metrics in the dashboard or an alert', () => {
    const used = [...shown, ...alerts.map(({ expr }) => expr)]
      .flatMap(named)
      .map(({ name }) => definitionOf(name));
    const unused = [...known.values()].filter((one) => one.name.startsWith('atoll_') && !used.includes(one));
    expect(unused).toEqual([]);
  });
});
