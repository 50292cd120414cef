import type { Answer, Case, Names, Request, Step } from '../case.ts';
import { rv } from '../case.ts';
import { customStatusCases } from './custom-status.ts';
import { definitionsPath, definitionWith, namesCases, numbersCases } from './definitions.ts';
import { expressionsCases } from './expressions.ts';
import { publishedCases } from './published.ts';
import { type Shape, shapes, text } from './shapes.ts';

const merge = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';

/** A custom resource's null in each place that a structural schema can have, and defaults that came later. */
export function customCases(): Case[] {
  return [
    ...Object.entries(shapes).map(([name, shape]) => nullsOf(name, shape)),
    roots(),
    ...defaultsCases(),
    ...numbersCases(),
    ...namesCases(),
    ...expressionsCases(),
    ...publishedCases(),
    ...customStatusCases(),
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
        ...[collection, `${collection}/none`].map((path) => ({ method: 'HEAD', path })),
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
