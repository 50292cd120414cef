import type { Case, Names, Step } from '../case.ts';

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';

/** A definition in the group of these cases; `spec` replaces parts of its own. */
export function definitionWith(
  names: Names,
  schema: object,
  spec: object = {},
  name = `${names.name}s`,
): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}.fidelity.example.com` },
    spec: {
      group: 'fidelity.example.com',
      scope: 'Namespaced',
      names: { plural: name, kind: `K${names.name}` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      ...spec,
    },
  };
}

const integers = [
  '0',
  '-0',
  '100',
  '1e3',
  '1.5',
  '9007199254740991',
  '9007199254740993',
  '9223372036854775000',
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '18446744073709551615',
  '123456789012345678901234567890',
];

/** Whole numbers in fields that are float64 in Go, through every way of writing. */
export function numbersCases(): Case[] {
  return integers.map((number) => ({
    id: `custom/float64/${number}`,
    area: 'custom',
    steps: (names) => {
      const name = `${names.name}s`;
      const object = `${definitionsPath}/${name}.fidelity.example.com`;
      const text = (value: string) =>
        JSON.stringify(
          definitionWith(names, {
            type: 'object',
            properties: { n: { type: 'number', maximum: 'NUMBER' } },
          }),
        ).replaceAll('"NUMBER"', value);
      const path = '/spec/versions/0/schema/openAPIV3Schema/properties/n/maximum';
      const patched = (value: string, type: string): Step => ({
        method: 'PATCH',
        path: `${object}?dryRun=All`,
        contentType: type,
        body: text(value),
      });
      return [
        {
          method: 'POST',
          path: `${definitionsPath}?dryRun=All`,
          contentType: 'application/json',
          body: text(number),
        },
        {
          method: 'POST',
          path: `${definitionsPath}?dryRun=All`,
          contentType: 'application/yaml',
          body: text(number),
        },
        {
          method: 'PATCH',
          path: `${object}?dryRun=All&fieldManager=me`,
          contentType: apply,
          body: text(number),
        },
        {
          method: 'POST',
          path: definitionsPath,
          contentType: 'application/json',
          body: text('7'),
          silent: true,
        },
        patched(number, merge),
        patched(number, strategic),
        {
          method: 'PATCH',
          path: `${object}?dryRun=All`,
          contentType: jsonPatch,
          body: `[{"op":"replace","path":"${path}","value":${number}}]`,
        },
        {
          method: 'PATCH',
          path: `${object}?dryRun=All&fieldManager=me&force=true`,
          contentType: apply,
          body: text(number),
        },
        { method: 'DELETE', path: object, silent: true },
      ];
    },
  }));
}

const empty = { type: 'object' };

/** Names that another definition of the group has. */
export function namesCases(): Case[] {
  const clash = (id: string, first: (name: string) => object, second: (name: string) => object): Case => ({
    id: `custom/names/${id}`,
    area: 'custom',
    ownNamespace: true,
    steps: (names) => {
      const group = `${names.name}.example.com`;
      const one = `a${names.name}s`;
      const two = `b${names.name}s`;
      const body = (plural: string, own: object) => ({
        ...definitionWith(names, empty, { group, names: { plural, ...own } }),
        metadata: { name: `${plural}.${group}` },
      });
      const at = (plural: string) => `${definitionsPath}/${plural}.${group}`;
      return [
        { method: 'POST', path: definitionsPath, body: body(one, first(names.name)) },
        { method: 'POST', path: definitionsPath, body: body(two, second(names.name)) },
        { method: 'GET', path: at(one) },
        { method: 'GET', path: at(two) },
        { method: 'GET', path: `/apis/${group}/v1` },
        { method: 'DELETE', path: at(one), silent: true },
        { method: 'DELETE', path: at(two), silent: true },
      ];
    },
  });
  return [
    clash(
      'kind',
      (n) => ({ kind: `K${n}` }),
      (n) => ({ kind: `K${n}`, singular: `b${n}`, listKind: `L${n}` }),
    ),
    clash(
      'list-kind',
      (n) => ({ kind: `A${n}`, listKind: `L${n}` }),
      (n) => ({ kind: `B${n}`, listKind: `L${n}` }),
    ),
    clash(
      'singular',
      (n) => ({ kind: `A${n}`, singular: n }),
      (n) => ({ kind: `B${n}`, singular: n }),
    ),
    clash(
      'short',
      (n) => ({ kind: `A${n}`, shortNames: ['x', n] }),
      (n) => ({ kind: `B${n}`, shortNames: [n, 'y'] }),
    ),
    clash(
      'all',
      (n) => ({ kind: `A${n}`, singular: n, shortNames: ['x'] }),
      (n) => ({ kind: `A${n}`, singular: n, shortNames: ['x', 'y'] }),
    ),
    clash(
      'kind-as-list',
      (n) => ({ kind: `A${n}` }),
      (n) => ({ kind: `A${n}List`, listKind: `Z${n}` }),
    ),
    clash(
      'short-as-plural',
      (n) => ({ kind: `A${n}` }),
      (n) => ({ kind: `B${n}`, shortNames: [`a${n}s`] }),
    ),
    clash(
      'own-short',
      (n) => ({ kind: `A${n}` }),
      (n) => ({ kind: `B${n}`, singular: `s${n}`, shortNames: [`s${n}`] }),
    ),
    clash(
      'categories',
      (n) => ({ kind: `A${n}`, categories: ['all'] }),
      (n) => ({ kind: `B${n}`, categories: ['all'] }),
    ),
  ];
}
