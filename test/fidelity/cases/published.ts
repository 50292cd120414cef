import type { Answer, Case, Names, Step } from '../case.ts';
import { definitionsPath } from './definitions.ts';
import { shapes, text } from './shapes.ts';

/** Of one definition: its schema, beside which `version` and `spec` say what else it has. */
interface Published {
  schema: object;
  version?: object;
  spec?: object;
}

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const inSpec = (properties: object, more: object = {}) => object({ spec: object(properties, more) });
const open = { 'x-kubernetes-preserve-unknown-fields': true };

const words = {
  ...text,
  title: 'a title',
  description: 'in words',
  pattern: '^a',
  minLength: 1,
  maxLength: 9,
  example: 'ab',
  externalDocs: { description: 'more', url: 'https://example.com' },
};
const number = {
  type: 'number',
  minimum: 1,
  exclusiveMinimum: true,
  maximum: 9,
  multipleOf: 0.5,
  format: 'double',
};
const rule = { rule: 'self.size() > 0', message: 'be', reason: 'FieldValueForbidden', fieldPath: '.a' };
const list = (items: object, more: object = {}) => ({ type: 'array', items, ...more });

const published: Readonly<Record<string, Published>> = {
  bare: { schema: { type: 'object' } },
  described: {
    schema: object({ spec: words }, { description: 'A thing', title: 'Thing', required: ['spec'] }),
  },
  whole: { schema: { type: 'object', ...open } },
  wholeWithFields: { schema: object({ spec: words }, { ...open, description: 'Open' }) },
  every: {
    schema: inSpec(Object.fromEntries(Object.entries(shapes).map(([name, { schema }]) => [name, schema]))),
  },
  head: {
    schema: object({
      apiVersion: { ...text, description: 'mine' },
      kind: { ...text, description: 'mine' },
      metadata: object({ name: { ...text, pattern: '^a' } }),
    }),
  },
  words: { schema: inSpec({ words, number, flag: { type: 'boolean', default: true } }) },
  numbers: {
    schema: inSpec({
      number,
      int32: { type: 'integer', format: 'int32', minimum: 0 },
      int64: { type: 'integer', format: 'int64', maximum: 9007199254740991 },
      big: { type: 'integer', default: 9007199254740991, exclusiveMaximum: true, maximum: 9007199254740992 },
    }),
  },
  formats: {
    schema: inSpec(
      Object.fromEntries(
        [
          'byte',
          'date',
          'date-time',
          'duration',
          'ipv4',
          'cidr',
          'email',
          'uri',
          'uuid',
          'password',
          'odd',
        ].map((format) => [`f-${format}`, { ...text, format }]),
      ),
    ),
  },
  choices: {
    schema: inSpec(
      {
        a: { ...text, enum: ['b', 'a'] },
        b: { type: 'integer', enum: [2, 1] },
        n: { ...text, nullable: true, enum: ['a', null] },
        any: { ...text, anyOf: [{ pattern: '^a' }, { enum: ['b'] }] },
        all: { ...text, allOf: [{ minLength: 1 }, { not: { enum: ['x'] } }] },
        one: object({ x: text, y: text }, { oneOf: [{ required: ['x'] }, { required: ['y'] }] }),
      },
      { not: { required: ['gone'] } },
    ),
  },
  intOrString: {
    schema: inSpec({
      plain: { 'x-kubernetes-int-or-string': true, description: 'a port' },
      anyOf: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      allOf: {
        'x-kubernetes-int-or-string': true,
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: '^[0-9]' }],
      },
      list: list({ 'x-kubernetes-int-or-string': true }),
      nullable: { 'x-kubernetes-int-or-string': true, nullable: true },
    }),
  },
  nullable: {
    schema: inSpec(
      {
        text: { ...text, nullable: true },
        list: list(text, { nullable: true, 'x-kubernetes-list-type': 'set' }),
        items: list({ ...text, nullable: true }),
        object: object({ a: text }, { nullable: true, required: ['a'], description: 'may be null' }),
        map: { type: 'object', nullable: true, additionalProperties: text },
        values: { type: 'object', additionalProperties: { ...text, nullable: true } },
        kept: text,
      },
      { required: ['text', 'kept', 'list'] },
    ),
  },
  onlyNullableRequired: { schema: inSpec({ text: { ...text, nullable: true } }, { required: ['text'] }) },
  kept: {
    schema: inSpec({
      any: { ...open, description: 'anything' },
      object: { type: 'object', ...open },
      fields: object({ a: text }, { ...open, required: ['a'], description: 'more than a' }),
      list: list({ type: 'object', ...open }),
      items: list({ ...open }),
      values: { type: 'object', additionalProperties: { type: 'object', ...open } },
      nullable: { ...open, nullable: true },
    }),
  },
  embedded: {
    schema: inSpec({
      closed: object(
        { spec: object({ a: text }) },
        { 'x-kubernetes-embedded-resource': true, required: ['spec'] },
      ),
      open: { type: 'object', 'x-kubernetes-embedded-resource': true, ...open },
      head: object({ kind: { ...text, enum: ['X'] } }, { 'x-kubernetes-embedded-resource': true }),
      list: list(object({ spec: text }, { 'x-kubernetes-embedded-resource': true })),
      map: {
        type: 'object',
        additionalProperties: object({ spec: text }, { 'x-kubernetes-embedded-resource': true }),
      },
    }),
  },
  lists: {
    schema: inSpec({
      atomic: list(text, { 'x-kubernetes-list-type': 'atomic', maxItems: 3, minItems: 1 }),
      set: list(text, { 'x-kubernetes-list-type': 'set', maxItems: 3 }),
      map: list(object({ k: text, v: text }, { required: ['k'] }), {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      }),
      nested: list(list(list(object({ a: text })))),
      defaulted: list(text, { default: ['a'] }),
    }),
  },
  maps: {
    schema: inSpec({
      text: { type: 'object', additionalProperties: text, maxProperties: 3, minProperties: 1 },
      anything: { type: 'object', additionalProperties: true },
      objects: { type: 'object', additionalProperties: object({ a: words }) },
      atomic: object({ a: text }, { 'x-kubernetes-map-type': 'atomic' }),
      granular: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'granular' },
      defaulted: object({ a: { ...text, default: 'd' } }, { default: { a: 'x' } }),
    }),
  },
  rules: {
    schema: inSpec(
      {
        a: {
          ...text,
          maxLength: 9,
          'x-kubernetes-validations': [{ rule: "self != 'x'", messageExpression: 'self' }],
        },
      },
      {
        'x-kubernetes-validations': [
          { ...rule, rule: 'has(self.a)' },
          { rule: 'self == oldSelf', optionalOldSelf: false },
        ],
      },
    ),
  },
  odd: {
    schema: inSpec({
      'with space': text,
      $ref: text,
      description: text,
      properties: object({ type: text }),
      type: { ...text, description: 'of a type' },
      'x-kubernetes-a': text,
      'a/b': text,
      __proto: text,
    }),
  },
  status: { schema: object({ status: object({ a: text }) }), version: { subresources: { status: {} } } },
  scale: {
    schema: object({ spec: object({ n: { type: 'integer' } }), status: object({ n: { type: 'integer' } }) }),
    version: {
      subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
    },
  },
  selectable: { schema: inSpec({ a: text }), version: { selectableFields: [{ jsonPath: '.spec.a' }] } },
  deprecated: { schema: inSpec({ a: text }), version: { deprecated: true } },
  deprecatedSo: { schema: inSpec({ a: text }), version: { deprecated: true, deprecationWarning: 'old' } },
  cluster: { schema: inSpec({ a: text }), spec: { scope: 'Cluster' } },
  named: {
    schema: inSpec({ a: text }),
    spec: {
      names: {
        plural: 'things',
        singular: 'thing',
        kind: 'Thing',
        listKind: 'Things',
        shortNames: ['th'],
        categories: ['all'],
      },
    },
  },
  kindOfList: { schema: inSpec({ a: text }), spec: { names: { plural: 'things', kind: 'ThingList' } } },
  oxen: { schema: inSpec({ a: text }), spec: { names: { plural: 'things', kind: 'APIOxen' } } },
};

/** Of one of the definitions that a case makes. */
const groupOf = ({ name }: Names, of = 'published') => `${name}.${of.toLowerCase()}.example.com`;
const modelOf = ({ name }: Names, of = 'published') => `com.example.${of.toLowerCase()}.${name}.v1.`;

function define(names: Names, { schema, version, spec }: Published, of?: string): Step {
  const group = groupOf(names, of);
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version },
      ],
      ...spec,
    },
  };
  return { method: 'POST', path: definitionsPath, body, silent: true };
}

const has = (text: string) => (answer: Answer) => answer.status === 200 && answer.body.includes(text);

/** The document of one version, once `part` is in it. */
function third(names: Names, part: string, version = 'v1', of?: string): Step {
  return { method: 'GET', path: `/openapi/v3/apis/${groupOf(names, of)}/${version}`, until: has(part) };
}

/** The document of all versions, which takes long to make. */
function second(...parts: string[]): Step {
  const until = (answer: Answer) => parts.every((part) => has(part)(answer));
  return { method: 'GET', path: '/openapi/v2', until };
}

const remove = (names: Names, of?: string): Step => ({
  method: 'DELETE',
  path: `${definitionsPath}/things.${groupOf(names, of)}`,
  silent: true,
});

/** What OpenAPI says of definitions: of their own types and paths, in both versions. */
export function publishedCases(): Case[] {
  return [everyCase(), versionsCase(), changesCase()];
}

function everyCase(): Case {
  const all = Object.entries(published);
  return {
    id: 'custom/published/every',
    area: 'custom',
    steps: (names) => [
      ...all.map(([of, definition]) => define(names, definition, of)),
      ...all.map(([of]) => third(names, modelOf(names, of), 'v1', of)),
      second(...all.map(([of]) => modelOf(names, of))),
      ...all.map(([of]): Step => ({ method: 'GET', path: `/apis/${groupOf(names, of)}/v1/things` })),
      ...all.map(([of]) => remove(names, of)),
    ],
  };
}

/** Served with schemas of their own, and one that is not served. */
function versionsCase(): Case {
  const version = (name: string, served: boolean, schema: object) => ({
    name,
    served,
    storage: name === 'v1',
    schema: { openAPIV3Schema: schema },
  });
  const versions = [
    { ...version('v1', true, inSpec({ one: text })), deprecated: true },
    version('v2beta1', true, { type: 'object', ...open }),
    version('v2', true, inSpec({ two: { type: 'integer' } }, { required: ['two'] })),
    version('v3', false, inSpec({ three: text })),
  ];
  return {
    id: 'custom/published/versions',
    area: 'custom',
    steps: (names) => [
      define(names, { schema: {}, spec: { versions } }),
      ...['v1', 'v2beta1', 'v2'].map((name) => third(names, `.${name}.`, name)),
      second(modelOf(names)),
      { method: 'GET', path: `/openapi/v3/apis/${groupOf(names)}/v3` },
      ...['v1', 'v2beta1', 'v3', 'v4'].map(
        (name): Step => ({ method: 'GET', path: `/apis/${groupOf(names)}/${name}/things` }),
      ),
      remove(names),
    ],
  };
}

/** A schema that changes, and a definition that goes. */
function changesCase(): Case {
  return {
    id: 'custom/published/changes',
    area: 'custom',
    steps: (names) => [
      define(names, { schema: inSpec({ before: text }) }),
      third(names, modelOf(names)),
      {
        method: 'PATCH',
        path: `${definitionsPath}/things.${groupOf(names)}`,
        contentType: 'application/json-patch+json',
        body: [
          {
            op: 'replace',
            path: '/spec/versions/0/schema/openAPIV3Schema',
            value: inSpec({ [`after-${names.name}`]: { type: 'integer' } }),
          },
        ],
        silent: true,
      },
      third(names, `after-${names.name}`),
      second(`after-${names.name}`),
      remove(names),
      {
        method: 'GET',
        path: `/openapi/v3/apis/${groupOf(names)}/v1`,
        until: ({ status }) => status === 404,
      },
      { method: 'GET', path: '/openapi/v2', until: (answer) => !answer.body.includes(modelOf(names)) },
    ],
  };
}
