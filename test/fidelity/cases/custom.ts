import type { Answer, Case, Names, Request, Step } from '../case.ts';
import { rv } from '../case.ts';
import { definitionsPath, definitionWith, namesCases, numbersCases } from './definitions.ts';
import { expressionsCases } from './expressions.ts';

const merge = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';

const text = { type: 'string' };
const item = { type: 'object', properties: { k: text, v: text } };

/** A place of a structural schema, what may stand there, and where nulls are put. */
interface Shape {
  schema: object;
  good: unknown;
  nulls: unknown[];
}

const shapes: Readonly<Record<string, Shape>> = {
  text: { schema: text, good: 'a', nulls: [null] },
  textNullable: { schema: { ...text, nullable: true }, good: 'a', nulls: [null] },
  textDefault: { schema: { ...text, default: 'd' }, good: 'a', nulls: [null] },
  textNullableDefault: { schema: { ...text, nullable: true, default: 'd' }, good: 'a', nulls: [null] },
  integer: { schema: { type: 'integer' }, good: 1, nulls: [null] },
  number: { schema: { type: 'number', nullable: true }, good: 1.5, nulls: [null] },
  bool: { schema: { type: 'boolean' }, good: true, nulls: [null] },
  object: {
    schema: { type: 'object', properties: { a: text, b: { ...text, nullable: true } } },
    good: { a: 'x' },
    nulls: [null, { a: null }, { b: null }, { a: null, b: 'y' }],
  },
  objectNullable: {
    schema: { type: 'object', nullable: true, properties: { a: text } },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  objectDefault: {
    schema: { type: 'object', default: {}, properties: { a: { ...text, default: 'd' } } },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  objectRequired: {
    schema: { type: 'object', required: ['a'], properties: { a: text } },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  objectEmpty: { schema: { type: 'object' }, good: {}, nulls: [null] },
  list: { schema: { type: 'array', items: text }, good: ['a'], nulls: [null, [null], ['a', null]] },
  listNullable: {
    schema: { type: 'array', nullable: true, items: text },
    good: ['a'],
    nulls: [null, [null]],
  },
  listOfNullable: {
    schema: { type: 'array', items: { ...text, nullable: true } },
    good: ['a'],
    nulls: [[null]],
  },
  listOfObjects: {
    schema: {
      type: 'array',
      items: { type: 'object', properties: { a: text, n: { ...text, nullable: true } } },
    },
    good: [{ a: 'x' }],
    nulls: [[null], [{ a: null }], [{ n: null }], [{ a: 'x' }, null]],
  },
  listOfDefaults: {
    schema: { type: 'array', items: { type: 'object', properties: { a: { ...text, default: 'd' } } } },
    good: [{ a: 'x' }],
    nulls: [[null], [{ a: null }]],
  },
  set: {
    schema: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    good: ['a'],
    nulls: [null, [null], ['a', null]],
  },
  keyed: {
    schema: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { ...item, required: ['k'] },
    },
    good: [{ k: 'a', v: 'x' }],
    nulls: [null, [null], [{ k: 'a', v: null }], [{ k: null }]],
  },
  keyedDefault: {
    schema: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { ...item, properties: { ...item.properties, k: { ...text, default: 'd' } } },
    },
    good: [{ k: 'a', v: 'x' }],
    nulls: [[{ k: null, v: 'x' }], [{ v: 'x' }]],
  },
  map: {
    schema: { type: 'object', additionalProperties: text },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  mapOfNullable: {
    schema: { type: 'object', additionalProperties: { ...text, nullable: true } },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  mapOfObjects: {
    schema: { type: 'object', additionalProperties: item },
    good: { a: { k: 'x' } },
    nulls: [{ a: null }, { a: { k: null } }],
  },
  mapOfDefaults: {
    schema: { type: 'object', additionalProperties: { ...text, default: 'd' } },
    good: { a: 'x' },
    nulls: [{ a: null }],
  },
  anything: {
    schema: { 'x-kubernetes-preserve-unknown-fields': true },
    good: { a: 'x' },
    nulls: [null, { a: null }, [null]],
  },
  anythingNullable: {
    schema: { 'x-kubernetes-preserve-unknown-fields': true, nullable: true },
    good: { a: 'x' },
    nulls: [null],
  },
  open: {
    schema: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: text, o: item },
    },
    good: { a: 'x', z: 1 },
    nulls: [null, { a: null }, { z: null }, { o: null }, { o: { k: null } }],
  },
  openMap: {
    schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    good: { z: 1 },
    nulls: [null, { z: null }, { z: { y: null } }],
  },
  intOrString: { schema: { 'x-kubernetes-int-or-string': true }, good: 1, nulls: [null] },
  intOrStringNullable: {
    schema: { 'x-kubernetes-int-or-string': true, nullable: true },
    good: '5%',
    nulls: [null],
  },
  intOrStringDefault: { schema: { 'x-kubernetes-int-or-string': true, default: 3 }, good: 1, nulls: [null] },
  embedded: {
    schema: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    good: { apiVersion: 'v1', kind: 'X' },
    nulls: [
      null,
      { apiVersion: 'v1', kind: 'X', metadata: null },
      { apiVersion: 'v1', kind: 'X', spec: null },
      { apiVersion: 'v1', kind: null },
    ],
  },
  embeddedClosed: {
    schema: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object', properties: { a: text } } },
    },
    good: { apiVersion: 'v1', kind: 'X' },
    nulls: [
      null,
      { apiVersion: 'v1', kind: 'X', spec: null },
      { apiVersion: 'v1', kind: 'X', spec: { a: null } },
    ],
  },
  choice: { schema: { ...text, enum: ['a', 'b'] }, good: 'a', nulls: [null] },
  choiceNullable: { schema: { ...text, nullable: true, enum: ['a'] }, good: 'a', nulls: [null] },
  choiceNull: { schema: { ...text, nullable: true, enum: ['a', null] }, good: 'a', nulls: [null] },
  anyOf: {
    schema: { type: 'object', properties: { a: text }, anyOf: [{ required: ['a'] }, { maxProperties: 0 }] },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  bytes: { schema: { ...text, format: 'byte' }, good: 'YQ==', nulls: [null] },
  time: { schema: { ...text, format: 'date-time' }, good: '2024-01-02T03:04:05Z', nulls: [null] },
};

/** A custom resource's null in each place that a structural schema can have, and defaults that came later. */
export function customCases(): Case[] {
  return [
    ...Object.entries(shapes).map(([name, shape]) => nullsOf(name, shape)),
    roots(),
    ...defaultsCases(),
    ...numbersCases(),
    ...namesCases(),
    ...expressionsCases(),
  ];
}

const served = (names: Names) => `/apis/fidelity.example.com/v1/namespaces/${names.ns}/${names.name}s`;

function thing(names: Names, spec: unknown, more: object = {}): object {
  return {
    apiVersion: 'fidelity.example.com/v1',
    kind: `K${names.name}`,
    metadata: { name: names.name },
    spec,
    ...more,
  };
}

function define(names: Names, spec: object): Request {
  return {
    method: 'POST',
    path: definitionsPath,
    body: definitionWith(names, { type: 'object', properties: { spec } }),
    silent: true,
  };
}

function nullsOf(name: string, { schema, good, nulls }: Shape): Case {
  return {
    id: `custom/null/${name}`,
    area: 'custom',
    steps: (names) => {
      const collection = served(names);
      const object = `${collection}/${names.name}`;
      const dry = (more = '') => `${object}?dryRun=All${more}`;
      const spec = { type: 'object', properties: { ok: text, p: schema } };
      const put = (value: unknown): Step => {
        return (seen: readonly Answer[]) => ({
          method: 'PUT',
          path: dry(),
          body: thing(
            names,
            { p: value },
            {
              metadata: { name: names.name, resourceVersion: rv(seen.findLast((a) => a.json?.['spec'])) },
            },
          ),
        });
      };
      const applied = (value: unknown): Step => ({
        method: 'PATCH',
        path: dry('&fieldManager=me&force=true'),
        contentType: apply,
        body: JSON.stringify(thing(names, { p: value })),
      });
      const patches = (value: unknown): Step[] => [
        put(value),
        { method: 'PATCH', path: dry(), contentType: merge, body: { spec: { p: value } } },
        {
          method: 'PATCH',
          path: dry(),
          contentType: jsonPatch,
          body: [{ op: 'add', path: '/spec/p', value }],
        },
        applied(value),
      ];
      return [
        define(names, spec),
        ...nulls.flatMap((value): Step[] => [
          { method: 'POST', path: `${collection}?dryRun=All`, body: thing(names, { p: value }) },
          applied(value),
        ]),
        { method: 'POST', path: collection, body: thing(names, { ok: 'x' }) },
        ...nulls.flatMap(patches),
        { method: 'PATCH', path: object, contentType: merge, body: { spec: { p: good } } },
        ...nulls.flatMap(patches),
        {
          method: 'PATCH',
          path: `${object}?fieldManager=me&force=true`,
          contentType: apply,
          body: JSON.stringify(thing(names, { p: good })),
        },
        ...nulls.map(applied),
        { method: 'DELETE', path: `${definitionsPath}/${names.name}s.fidelity.example.com`, silent: true },
      ];
    },
  };
}

/** Nulls beside the spec. */
function roots(): Case {
  return {
    id: 'custom/null/roots',
    area: 'custom',
    steps: (names) => {
      const collection = served(names);
      const bodies = [
        thing(names, null),
        thing(names, { a: 'x' }, { status: null }),
        thing(names, { a: 'x' }, { extra: null }),
        thing(names, { a: 'x', extra: null }),
        thing(names, { a: 'x' }, { metadata: { name: names.name, labels: null, annotations: { a: null } } }),
      ];
      return [
        define(names, { type: 'object', properties: { a: text } }),
        ...bodies.flatMap((body): Step[] => [
          { method: 'POST', path: `${collection}?dryRun=All`, body },
          {
            method: 'PATCH',
            path: `${collection}/${names.name}?dryRun=All&fieldManager=me`,
            contentType: apply,
            body: JSON.stringify(body),
          },
        ]),
        { method: 'DELETE', path: `${definitionsPath}/${names.name}s.fidelity.example.com`, silent: true },
      ];
    },
  };
}

/** Defaults, and fields that went, that a definition got after an object was stored. */
function defaultsCases(): Case[] {
  const before = {
    type: 'object',
    properties: { a: text, gone: text, deep: { type: 'object', properties: { a: text, gone: text } } },
  };
  const after = {
    type: 'object',
    properties: {
      a: text,
      late: { ...text, default: 'd' },
      deep: { type: 'object', properties: { a: text, late: { type: 'integer', default: 3 } } },
      whole: { type: 'object', default: {}, properties: { x: { type: 'boolean', default: true } } },
    },
  };
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
  return [
    {
      id: 'custom/defaults/later',
      area: 'custom',
      ownNamespace: true,
      steps: (names) => {
        const collection = served(names);
        const object = `${collection}/${names.name}`;
        const definition = `${definitionsPath}/${names.name}s.fidelity.example.com`;
        const read: Step[] = [
          { method: 'GET', path: object },
          { method: 'GET', path: collection },
          { method: 'GET', path: collection, accept: table },
          { method: 'GET', path: `${collection}?watch=1&resourceVersion=0&timeoutSeconds=1`, watch: true },
        ];
        return [
          define(names, before),
          {
            method: 'POST',
            path: collection,
            body: thing(names, { a: 'x', gone: 'y', deep: { gone: 'y' } }),
          },
          {
            method: 'PATCH',
            path: definition,
            contentType: jsonPatch,
            body: [
              {
                op: 'replace',
                path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec',
                value: after,
              },
            ],
            silent: true,
          },
          { method: 'GET', path: `${collection}?limit=1&fieldSelector=metadata.name=a`, silent: true },
          ...read,
          { method: 'PATCH', path: object, contentType: merge, body: { metadata: { labels: { l: 'v' } } } },
          { method: 'PATCH', path: object, contentType: merge, body: { spec: { deep: { a: 'z' } } } },
          ...read,
          { method: 'DELETE', path: object },
          { method: 'DELETE', path: definition, silent: true },
        ];
      },
    },
  ];
}
