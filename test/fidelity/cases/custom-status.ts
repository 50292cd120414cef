import { type Answer, type Case, type Names, rv, type Step } from '../case.ts';
import { definitionsPath, definitionWith } from './definitions.ts';

const merge = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const schema = { type: 'object', properties: { spec: open, status: open } };

/** A status by every way of writing: where it has a subresource, and where it is a field as any. */
export function customStatusCases(): Case[] {
  return [
    { id: 'custom/status/none', area: 'custom', steps: (names) => steps(names, undefined) },
    { id: 'custom/status/own', area: 'custom', steps: (names) => steps(names, { status: {} }) },
    { id: 'custom/status/scale', area: 'custom', steps: (names) => steps(names, { scale }) },
    { id: 'custom/counts', area: 'custom', steps: (names) => counts(names, { scale, status: {} }) },
    { id: 'custom/counts/one', area: 'custom', steps: (names) => counts(names, { scale }) },
  ];
}

const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };

function steps(names: Names, subresources: object | undefined): Step[] {
  const collection = `/apis/fidelity.example.com/v1/namespaces/${names.ns}/${names.name}s`;
  const object = `${collection}/${names.name}`;
  const versions = [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: schema },
      ...(subresources && { subresources }),
    },
  ];
  const thing = (metadata: object, more: object) => ({
    apiVersion: 'fidelity.example.com/v1',
    kind: `K${names.name}`,
    metadata: { name: names.name, ...metadata },
    ...more,
  });
  const body = definitionWith(names, schema, { versions });
  const last = (seen: readonly Answer[]) => rv(seen.findLast((answer) => answer.json?.['spec']));
  const put =
    (path: string, more: object): Step =>
    (seen) => ({ method: 'PUT', path, body: thing({ resourceVersion: last(seen) }, more) });
  const patch = (path: string, contentType: string, value: object | string): Step => ({
    method: 'PATCH',
    path,
    contentType,
    body: value,
  });
  const applied = (path: string, more: object) =>
    patch(`${path}?fieldManager=me&force=true`, apply, JSON.stringify(thing({}, more)));
  return [
    { method: 'POST', path: definitionsPath, body, silent: true },
    { method: 'POST', path: collection, body: thing({}, { spec: { n: 1 }, status: { n: 1 } }) },
    patch(object, merge, { status: { n: 2 } }),
    patch(object, merge, { spec: { n: 2 }, status: { n: 3 } }),
    patch(object, merge, { metadata: { labels: { a: 'b' } } }),
    patch(object, jsonPatch, [{ op: 'add', path: '/status', value: { m: 1 } }]),
    put(object, { spec: { n: 2 }, status: { n: 4 } }),
    put(object, { spec: { n: 2 } }),
    applied(object, { spec: { n: 2 }, status: { k: 1 } }),
    applied(`${object}/status`, { status: { k: 2 } }),
    patch(`${object}/status`, merge, { status: { n: 5 } }),
    { method: 'GET', path: `${object}/status` },
    { method: 'GET', path: object },
  ];
}

/** What Scales are made of, as numbers are written. */
function counts(names: Names, subresources: object): Step[] {
  const group = '/apis/fidelity.example.com/v1';
  const collection = `${group}/namespaces/${names.ns}/${names.name}s`;
  const object = `${collection}/${names.name}`;
  const about = `"apiVersion":"fidelity.example.com/v1","kind":"K${names.name}","metadata":{"name":"${names.name}"}`;
  const thing = (spec: string, status = '0') => `{${about},"spec":{"n":${spec}},"status":{"n":${status}}}`;
  const served = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    subresources,
  };
  const made = (body: string): Step => ({ method: 'POST', path: collection, body });
  const changed = (path: string, contentType: string, body: string): Step => ({
    method: 'PATCH',
    path,
    contentType,
    body,
  });
  return [
    {
      method: 'POST',
      path: definitionsPath,
      body: definitionWith(names, schema, { versions: [served] }),
      silent: true,
    },
    ...['1e3', '4.0', '4.5', '1E2'].map((number) => made(thing(number))),
    made(thing('2', '3.0')),
    made(thing('2')),
    ...['5.0', '1e1', '5.5', '2147483648', '-1', '3'].map((n) =>
      changed(object, merge, `{"spec":{"n":${n}}}`),
    ),
    changed(object, jsonPatch, '[{"op":"replace","path":"/spec/n","value":1e1}]'),
    changed(object, merge, '{"status":{"n":3.0}}'),
    changed(`${object}/status`, merge, '{"status":{"n":3.0}}'),
    changed(`${object}/status`, merge, '{"spec":{"n":3.0}}'),
    changed(`${object}?fieldManager=me&force=true`, apply, thing('8.0', '1.0')),
    { method: 'POST', path: `${group}/${names.name}s`, body: thing('1') },
    { method: 'POST', path: `${group}/namespaces//${names.name}s`, body: thing('1') },
    { method: 'GET', path: `${group}/${names.name}s/${names.name}` },
    { method: 'DELETE', path: `${group}/${names.name}s` },
    { method: 'GET', path: object },
  ];
}
