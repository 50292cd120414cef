import { expect, test } from 'vitest';
import { decodeBody } from '../../../apiserver/decode/body.ts';
import { builtinResources, schemaOf } from '../../../kube/schema/builtin.ts';

const info = builtinResources.find(({ kind, version }) => kind === 'Deployment' && version === 'v1')!;
const served = { info, schema: schemaOf(info)! };

/** What kube-apiserver says of these in `make fidelity`, cases `writes/strict`. */
test.each([
  [
    '"nothing": 1, "replicas": 1, "replicas": 2',
    ['unknown field "spec.nothing"', 'duplicate field "spec.replicas"'],
  ],
  [
    '"replicas": 1, "replicas": 2, "nothing": 1',
    ['duplicate field "spec.replicas"', 'unknown field "spec.nothing"'],
  ],
  ['"nothing": {"a": 1, "a": 2}, "nothing": 2', ['unknown field "spec.nothing"']],
  [
    '"template": {"other": [{"a": 1, "a": 2}]}, "1": 1, "paused": true, "paused": true',
    ['unknown field "spec.template.other"', 'unknown field "spec.1"', 'duplicate field "spec.paused"'],
  ],
])('of a built-in kind problems are told in the order of the text: %s', (spec, problems) => {
  const body = Buffer.from(`{"metadata":{"name":"a"},"spec":{${spec}}}`);
  const told: string[] = [];
  decodeBody(body, 'json', served, { validation: 'Warn', warn: (message) => told.push(message) });
  expect(told).toEqual(problems);
  const strict = () => decodeBody(body, 'json', served, { validation: 'Strict', warn: () => {} });
  expect(strict).toThrow(`strict decoding error: ${problems.join(', ')}`);
});

test('of YAML lines are told first, as one error', () => {
  const body = Buffer.from(
    'spec:\n  nothing: 1\n  paused: true\n  "paused": false\n  template: {spec: 1,\n   spec: {}}\n',
  );
  const told: string[] = [];
  decodeBody(body, 'yaml', served, { validation: 'Warn', warn: (message) => told.push(message) });
  const lines = ['line 4: key "paused" already set in map', 'line 6: key "spec" already set in map'];
  expect(told).toEqual([...lines, 'unknown field "spec.nothing"']);
  const strict = () => decodeBody(body, 'yaml', served, { validation: 'Strict', warn: () => {} });
  const joined = `yaml: unmarshal errors:\n  ${lines.join('\n  ')}`;
  expect(strict).toThrow(`strict decoding error: ${joined}, unknown field "spec.nothing"`);
});
