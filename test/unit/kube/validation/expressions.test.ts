import { expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { named } from '../kinds.ts';
import { causesOf } from './refused.ts';

const admission = 'admissionregistration.k8s.io/v1';
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const policy = (spec: object): KubeObject =>
  named(admission, 'ValidatingAdmissionPolicy', {
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: 'object.a == 1' }],
      ...spec,
    },
  });
const hooks = (expressions: readonly string[]): KubeObject =>
  named(admission, 'ValidatingWebhookConfiguration', {
    webhooks: expressions.map((expression, i) => ({
      name: `a${i}.example.com`,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { url: 'https://example.com' },
      matchConditions: [{ name: 'a', expression }],
    })),
  });
const names = { plural: 'tides', singular: 'tide', kind: 'Tide', listKind: 'TideList' };
const definition = (schema: object): KubeObject =>
  named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
    metadata: { name: 'tides.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
const rules = (...expressions: string[]) => ({
  'x-kubernetes-validations': expressions.map((expression) => ({ rule: expression })),
});
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** Seconds of this process; each of these took many times as long, or the process with it. */
function spent<T>(run: () => T): { seconds: number; of: T } {
  const before = process.cpuUsage();
  const of = run();
  return { seconds: process.cpuUsage(before).user / 1_000_000, of };
}

it('each of many variables is judged, in a time that grows with their number', () => {
  const variables = times(20_000, (i) => ({
    name: `v${i}`,
    expression: i === 0 ? '1' : `variables.v${i - 1}`,
  }));
  const { seconds, of } = spent(() => causesOf(policy({ variables })));
  expect(of).toEqual([]);
  expect(seconds).toBeLessThan(5);
});

it('what is said of an object’s expressions is not much longer than they are', () => {
  const long = `${Array(200).fill('a').join('&&')}&&b${'c'.repeat(15_000)}`;
  const messages = causesOf(policy({ validations: times(20, () => ({ expression: long })) }));
  expect(messages.join('').length).toBeLessThan(2_000_000);
});

const long = (i: number) => `${Array(3_000).fill('object.a.b > 10').join('||')}||${i} > 1`;

it.each<[string, KubeObject]>([
  ['a policy', policy({ validations: times(20, (i) => ({ expression: long(i) })) })],
  [
    'a policy, as variables',
    policy({ variables: times(20, (i) => ({ name: `v${i}`, expression: long(i) })) }),
  ],
  ['webhooks', hooks(times(20, long))],
  [
    'a definition',
    definition({
      type: 'object',
      properties: { a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      ...rules(...times(20, (i) => `${Array(8_000).fill('1 < 2').join('||')}||${i} > 1`)),
    }),
  ],
])('of %s no more is judged than so many characters, and the rest is refused', (_, object) => {
  const messages = causesOf(object);
  expect(messages.length).toBeGreaterThan(5);
  expect(messages.length).toBeLessThan(15);
  for (const message of messages) expect(message).toContain('all expressions of an object');
});

it('a definition whose schemas all have rules is judged by one set of types', () => {
  let schema: object = {
    type: 'object',
    properties: Object.fromEntries(
      times(40_000, (i) => [`p${i}`, { type: 'object', properties: { a: { type: 'string' } } }]),
    ),
  };
  for (let i = 0; i < 90; i++)
    schema = { type: 'object', properties: { a: schema }, ...rules('has(self.a)') };
  const { seconds, of } = spent(() => causesOf(definition(schema)));
  expect(of).toEqual([]);
  expect(seconds).toBeLessThan(4);
});

it('a text may be one of very many', () => {
  const values = times(300_000, (i) => `v${i}`);
  const schema = {
    type: 'object',
    properties: { a: { type: 'string', enum: values } },
    ...rules('self.a != ""'),
  };
  expect(causesOf(definition(schema))).toEqual([]);
});

const costly = (i: number) => `[${i}]${'.map(a, {type(a): type(a)})'.repeat(100)}.size() > 0`;
const claim = (expressions: readonly string[]): KubeObject =>
  named('resource.k8s.io/v1', 'ResourceClaim', {
    spec: {
      devices: {
        requests: expressions.map((expression, i) => ({
          name: `r${i}`,
          exactly: { deviceClassName: 'gpu', selectors: [{ cel: { expression } }] },
        })),
      },
    },
  });

it.each<[string, (expressions: string[]) => KubeObject]>([
  ['a policy', (all) => policy({ validations: all.map((expression) => ({ expression })) })],
  ['webhooks', hooks],
  ['a definition', (all) => definition({ type: 'object', ...rules(...all) })],
  ['a claim', claim],
])('of %s no more is judged than takes so many steps, and the rest is refused', (_of, make) => {
  const { seconds, of } = spent(() => causesOf(make(times(32, costly))));
  expect(of.join()).toContain('all expressions of an object together may not take that long to be judged');
  expect(seconds).toBeLessThan(6);
});

it('patterns count by what they become', () => {
  const matches = (i: number) => `'x'.matches('(a{20}){99}${i}')`;
  const { of } = spent(() =>
    causesOf(policy({ validations: times(60, (i) => ({ expression: matches(i) })) })),
  );
  expect(of.at(-1)).toContain('may not take that long to be judged');
});

it('rules of all defaults have one budget', () => {
  const slow = { rule: 'self.all(a, self.all(b, self.all(c, a + b + c >= 0)))' };
  const property = {
    type: 'array',
    maxItems: 200,
    items: { type: 'integer' },
    default: times(200, (i) => i),
    'x-kubernetes-validations': [slow],
  };
  const properties = Object.fromEntries(times(20, (i) => [`p${i}`, property]));
  expect(causesOf(definition({ type: 'object', properties }))).toEqual([
    expect.stringContaining('call cost exceeds limit for rule'),
  ]);
});
