import type { Case, Names, Step } from '../case.ts';
import { definitionsPath, definitionWith } from './definitions.ts';

const merge = 'application/merge-patch+json';
const apply = 'application/apply-patch+yaml';
const yaml = 'application/yaml';

/** Members of a spec, as text: fields that nobody knows and fields that are there twice, in every order. */
const json: Readonly<Record<string, string>> = {
  'unknown-first': '"nothing": 1, "replicas": 1, "replicas": 2',
  'duplicate-first': '"replicas": 1, "replicas": 2, "nothing": 1',
  between: '"replicas": 1, "nothing": 1, "replicas": 2',
  deep: '"template": {"none": 1, "other": {"a": 1, "a": 2}}, "replicas": 1, "nothing": {"a": 1, "a": 2}, "replicas": 2',
  list: '"items": [{"a": 1, "no": 1, "a": 2}, {"a": 1, "no": 1, "no": 2}], "replicas": 1, "replicas": 1, "replicas": 1',
  'number-named': '"b": 1, "replicas": 1, "1": 1, "replicas": 2',
  'unknown-twice': '"nothing": 1, "replicas": 1, "nothing": 2',
};
const yamls: Readonly<Record<string, string>> = {
  'unknown-first': 'nothing: 1\n  replicas: 1\n  replicas: 2\n',
  'duplicate-first': 'replicas: 1\n  replicas: 2\n  nothing: 1\n',
  many: 'replicas: 1\n  items:\n  - a: 1\n    a: 2\n  - {a: 1, a: 1}\n  replicas: 2\n  replicas: 3\n',
  quoted: '"replicas": 1\n  # a word\n  replicas: |\n    2\n  nothing: {"replicas": 1,\n    "replicas": 2}\n',
};

/** What strict decoding finds wrong, and in which order it tells. */
export function strictCases(): Case[] {
  return [
    ...Object.entries(json).flatMap(([name, spec]) => [
      builtin(
        name,
        (names) => `{"apiVersion":"apps/v1","kind":"Deployment",${head(names)},"spec":{${spec}}}`,
      ),
      custom(name, (names) => `{${type(names)},${head(names)},"spec":{${spec}}}`),
    ]),
    ...Object.entries(yamls).flatMap(([name, spec]) => [
      builtin(
        `yaml-${name}`,
        (names) =>
          `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: ${names.name}\nspec:\n  ${spec}`,
        true,
      ),
      custom(
        `yaml-${name}`,
        (names) =>
          `apiVersion: fidelity.example.com/v1\nkind: K${names.name}\nmetadata:\n  name: ${names.name}\nspec:\n  ${spec}`,
        true,
      ),
    ]),
  ];
}

const head = ({ name }: Names) => `"metadata":{"name":"${name}","odd":1}`;
const type = ({ name }: Names) => `"apiVersion":"fidelity.example.com/v1","kind":"K${name}"`;

type Body = (names: Names) => string;

function writes(collection: string, names: Names, body: string, isYaml: boolean): Step[] {
  const object = `${collection}/${names.name}`;
  const contentType = isYaml ? yaml : 'application/json';
  return ['Strict', 'Warn'].flatMap((validation): Step[] => {
    const query = `?dryRun=All&fieldValidation=${validation}`;
    const post = { method: 'POST', path: collection + query, contentType, body };
    // An apply tells of many unknown fields in any order.
    if (/nothing|odd/.test(body)) return [post];
    return [post, { method: 'PATCH', path: `${object}${query}&fieldManager=me`, contentType: apply, body }];
  });
}

function builtin(name: string, body: Body, isYaml = false): Case {
  return {
    id: `writes/strict/builtin/${name}`,
    area: 'writes',
    steps: (names) => writes(`/apis/apps/v1/namespaces/${names.ns}/deployments`, names, body(names), isYaml),
  };
}

function custom(name: string, body: Body, isYaml = false): Case {
  return {
    id: `writes/strict/custom/${name}`,
    area: 'writes',
    steps: (names) => {
      const collection = `/apis/fidelity.example.com/v1/namespaces/${names.ns}/${names.name}s`;
      const items = { type: 'array', items: { type: 'object', properties: { a: { type: 'integer' } } } };
      const spec = { type: 'object', properties: { replicas: { type: 'integer' }, items } };
      const schema = { type: 'object', properties: { spec } };
      const text = body(names);
      return [
        { method: 'POST', path: definitionsPath, body: definitionWith(names, schema), silent: true },
        ...writes(collection, names, text, isYaml),
        {
          method: 'POST',
          path: collection,
          body: {
            apiVersion: 'fidelity.example.com/v1',
            kind: `K${names.name}`,
            metadata: { name: names.name },
          },
          silent: true,
        },
        {
          method: 'PATCH',
          path: `${collection}/${names.name}?dryRun=All&fieldValidation=Strict`,
          contentType: merge,
          body: text.replace('"apiVersion"', '"nothing": 1, "apiVersion"'),
        },
        { method: 'DELETE', path: `${definitionsPath}/${names.name}s.fidelity.example.com`, silent: true },
      ];
    },
  };
}
