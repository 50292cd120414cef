import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { applyServerSide, updateManagers } from '../../../../kube/patch/managed.ts';
import type { InVersion } from '../../../../kube/patch/ownership.ts';
import { schemaOf } from '../../../../kube/schema/builtin.ts';
import type { Field, Schema } from '../../../../kube/schema/schema.ts';
import { isStatusError } from '../../../../kube/status.ts';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
const time = '2026-01-01T00:00:00Z';

function outcome(run: () => KubeObject): KubeObject | string {
  try {
    return run();
  } catch (error) {
    if (isStatusError(error)) return `${error.code} ${error.message}`;
    throw error;
  }
}

const managersOf = (object: KubeObject | string) =>
  typeof object === 'string'
    ? object
    : object.metadata.managedFields?.map(({ manager, operation, fieldsV1 }) => [
        manager,
        operation,
        fieldsV1,
      ]);

/** What kube-apiserver 1.36.3 answers to `kubectl apply --server-side` on an object of client-side apply. */
describe('from client-side to server-side apply', () => {
  const schema = schemaOf({ group: '', version: 'v1', kind: 'ConfigMap' }) as Schema;
  const by = (manager: string) => ({ schema, manager, apiVersion: 'v1', time, force: false });
  const configMap = (data: Record<string, string>, annotations?: Record<string, string>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'reef', ...(annotations && { annotations }) },
    data,
  });
  const said = (data: object, apiVersion = 'v1') =>
    JSON.stringify({ apiVersion, kind: 'ConfigMap', metadata: { name: 'reef' }, data });

  function upgrade(last: string, edit: object, data: Record<string, string>, manager = 'kubectl') {
    const first = configMap({ a: '1', b: '1' }, { [annotation]: last });
    const created = updateManagers(undefined, first, by('kubectl-client-side-apply'));
    const edited = { ...created, data: { a: '1', b: '1', ...edit } };
    const live = updateManagers(created, edited, by('edit'));
    return outcome(() => applyServerSide(live, configMap(data), by(manager)).object);
  }

  const own = said({ a: '1', b: '1' });
  const conflict = (owner: string, field: string) =>
    `409 Apply failed with 1 conflict: conflict with "${owner}" using v1: ${field}`;
  const clientSide = conflict('kubectl-client-side-apply', '.data.a');

  it.each<[string, string, object, Record<string, string>, string, string]>([
    [
      'what another added stays theirs',
      own,
      { c: '3' },
      { a: '2', c: '9' },
      'kubectl',
      conflict('edit', '.data.c'),
    ],
    ['what another changed is theirs', own, { a: '7' }, { a: '2' }, 'kubectl', conflict('edit', '.data.a')],
    ['an annotation that is no JSON tells nothing', '{not json', {}, { a: '2' }, 'kubectl', clientSide],
    ['nor does one of another version', said({ a: '1' }, 'v2'), {}, { a: '2' }, 'kubectl', clientSide],
    ['nor one with a field that is unknown', said({ a: { b: 1 } }), {}, { a: '2' }, 'kubectl', clientSide],
    ['nor an empty one', '', {}, { a: '2' }, 'kubectl', clientSide],
    ['it speaks for kubectl alone', own, {}, { a: '2' }, 'flux', clientSide],
  ])('%s', (_, last, edit, data, manager, expected) => {
    expect(upgrade(last, edit, data, manager)).toBe(expected);
  });

  it('what the annotation says was applied is no conflict; the annotation follows', () => {
    const result = upgrade(own, {}, { a: '2', b: '1' });
    expect(result).toMatchObject({ data: { a: '2', b: '1' } });
    expect((result as KubeObject).metadata.annotations).toEqual({
      [annotation]:
        '{"apiVersion":"v1","data":{"a":"2","b":"1"},"kind":"ConfigMap","metadata":{"name":"reef"}}\n',
    });
    expect(managersOf(result)).toEqual([
      ['kubectl', 'Apply', { 'f:data': { 'f:a': {}, 'f:b': {} } }],
      [
        'kubectl-client-side-apply',
        'Update',
        {
          'f:data': { '.': {}, 'f:b': {} },
          'f:metadata': { 'f:annotations': { '.': {}, [`f:${annotation}`]: {} } },
        },
      ],
    ]);
  });

  it('an annotation that would be too large goes', () => {
    const result = upgrade(own, {}, { a: '2', b: 'x'.repeat(270_000) });
    expect((result as KubeObject).metadata).not.toHaveProperty('annotations');
  });
});

/** A kind whose field has another name in each version; v3 is served no more. */
describe('owners of other versions', () => {
  const integer: Schema = { type: 'integer', format: 'int32' };
  const object = (fields: Record<string, Schema>): Schema => ({
    type: 'object',
    fields: new Map(
      Object.entries(fields).map(([name, schema]): [string, Field] => [name, { name, schema }]),
    ),
  });
  const text: Schema = { type: 'string' };
  const kind = (field: string) =>
    object({
      apiVersion: text,
      kind: text,
      metadata: object({ name: text }),
      [field]: integer,
      same: integer,
    });
  const fieldOf: Record<string, string> = { 'reef/v1': 'size', 'reef/v2': 'count' };
  const make = (apiVersion: string, value: number, same: number): KubeObject => ({
    apiVersion,
    kind: 'Tide',
    metadata: { name: 'a' },
    [fieldOf[apiVersion] ?? '']: value,
    same,
  });
  const inVersion: InVersion = (from, apiVersion) => {
    const field = fieldOf[apiVersion];
    if (field === undefined) return undefined;
    const value = Number(from[fieldOf[from.apiVersion ?? ''] ?? '']);
    return { object: make(apiVersion, value, Number(from['same'])), schema: kind(field) };
  };
  const by = (manager: string, apiVersion: string) => ({
    schema: kind(fieldOf[apiVersion] ?? ''),
    manager,
    apiVersion,
    time,
    inVersion,
  });
  const ofOld = updateManagers(undefined, make('reef/v1', 1, 1), by('old', 'reef/v1'));
  const live = { ...make('reef/v2', 1, 1), metadata: ofOld.metadata };
  const apply = (value: number, force: boolean) =>
    outcome(
      () => applyServerSide(live, make('reef/v2', value, 1), { ...by('new', 'reef/v2'), force }).object,
    );

  it('are asked in their own version, by its names', () => {
    expect(apply(2, false)).toBe(
      '409 Apply failed with 1 conflict: conflict with "old" using reef/v1: .size',
    );
  });

  it('lose what is taken, and share what is the same', () => {
    expect(managersOf(apply(2, true))).toEqual([
      ['new', 'Apply', { 'f:count': {}, 'f:same': {} }],
      ['old', 'Update', { 'f:same': {} }],
    ]);
    expect(managersOf(apply(1, false))).toEqual([
      ['new', 'Apply', { 'f:count': {}, 'f:same': {} }],
      ['old', 'Update', { 'f:same': {}, 'f:size': {} }],
    ]);
  });

  it('are forgotten with their version', () => {
    const [entry] = live.metadata.managedFields ?? [];
    const managedFields = entry ? [{ ...entry, apiVersion: 'reef/v3' }] : [];
    const stored = { ...live, metadata: { ...live.metadata, managedFields } };
    expect(managersOf(updateManagers(stored, { ...stored, count: 2 }, by('new', 'reef/v2')))).toEqual([
      ['new', 'Update', { 'f:count': {} }],
    ]);
  });
});
