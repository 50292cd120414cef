import { expect, test } from 'vitest';
import type { ResourceExchange } from '../../../../apiserver/core.ts';
import { decodeApplied } from '../../../../apiserver/handlers/writes/applied.ts';

const served = { info: { group: '', version: 'v1', kind: 'ConfigMap' } };
const applied = (text: string) =>
  decodeApplied({ request: { body: Buffer.from(text) }, served } as unknown as ResourceExchange);

/** Answers of a real kube-apiserver 1.36. */
const of = 'into Go value of type map[string]interface {}';
const unread = 'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal';
test.each([
  ['', 'invalid object type: /, Kind='],
  ['---\n', 'invalid object type: /, Kind='],
  ['null', 'invalid object type: /, Kind='],
  ['[]', `${unread} array ${of}`],
  ['text', `${unread} string ${of}`],
  ['5', `${unread} number ${of}`],
  ['true', `${unread} bool ${of}`],
  ['{apiVersion: apps/v1, kind: Deployment}', 'invalid object type: apps/v1, Kind=Deployment'],
])('%j is no ConfigMap', (text, message) => {
  expect(() => applied(text)).toThrow(message);
});

test('an object has metadata', () => {
  expect(applied('{apiVersion: v1, kind: ConfigMap}').object.metadata).toEqual({});
});
