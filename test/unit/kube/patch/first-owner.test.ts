import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { KubeObject, ManagedFieldsEntry } from '../../../../kube/object.ts';
import { FieldSet } from '../../../../kube/patch/fields.ts';
import { ownedByCreator } from '../../../../kube/patch/first-owner.ts';
import { updateManagers } from '../../../../kube/patch/managed.ts';
import type { FieldManagement } from '../../../../kube/patch/record.ts';
import type { Schema } from '../../../../kube/schema/schema.ts';

const any: Schema = { type: 'any' };
const names = { type: 'list', items: any, listType: 'map', listMapKeys: ['name'] } as const;
const spec: Schema = {
  type: 'object',
  fields: new Map([['names', { name: 'names', schema: names }]]),
  open: true,
} as unknown as Schema;

/** As if no shape had been seen before. */
const fresh = (of: Schema = any): FieldManagement => ({
  schema: { ...of },
  manager: 'me',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
});

const object = (rest: object): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' }, ...rest }) as KubeObject;

const fields = (of: KubeObject) => of.metadata.managedFields?.[0]?.fieldsV1;

describe('who owns what of a new object', () => {
  it('is the same whether a shape was seen before or not', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (a, b) => {
          const by = fresh();
          for (const rest of [a, b, a, b]) {
            expect(updateManagers(undefined, object(rest), by)).toEqual(
              updateManagers(undefined, object(rest), fresh()),
            );
          }
        },
      ),
    );
  });

  it.each([
    ['values of one kind', { data: { x: '1' } }, { data: { x: '2' } }, 1],
    ['another name', { data: { x: '1' } }, { data: { y: '1' } }, 2],
    ["a zero, which may be nobody's, and a number", { a: { b: 0 } }, { a: { b: 1 } }, 2],
    ['null and a value', { data: { x: null } }, { data: { x: '1' } }, 2],
    ['names that run into each other', { a: { b: 's' } }, { 'a{1:b': 's' }, 2],
    ['items of a list, which may be keys', { names: [{ name: 'x' }] }, { names: [{ name: 'y' }] }, 2],
    ['a number and its text in a list', { names: [1] }, { names: ['1'] }, 2],
  ])('%s', (_, first, second, times) => {
    const by = fresh();
    const work = vi.fn((): ManagedFieldsEntry[] => [
      {
        manager: 'me',
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:x': {} },
      },
    ]);
    ownedByCreator(object(first), by, work);
    ownedByCreator(object(second), by, work);
    expect(work).toHaveBeenCalledTimes(times);
  });

  it('gives each object entries of its own, with the time of its writer', () => {
    const by = fresh(spec);
    const first = updateManagers(undefined, object({ names: [{ name: 'x', v: 1 }] }), by);
    const second = updateManagers(undefined, object({ names: [{ name: 'x', v: 1 }] }), {
      ...by,
      manager: 'you',
      time: '2027-01-01T00:00:00Z',
    });
    expect(fields(first)).toEqual({
      'f:names': { 'k:{"name":"x"}': { '.': {}, 'f:name': {}, 'f:v': {} }, '.': {} },
    });
    expect(fields(second)).toEqual(fields(first));
    // They share what nobody can change.
    expect(() => Object.assign(fields(second) ?? {}, { 'f:other': {} })).toThrow(TypeError);
    expect(second.metadata.managedFields).toMatchObject([
      { manager: 'you', operation: 'Update', time: '2027-01-01T00:00:00Z' },
    ]);
  });

  it('leaves out what this writer cannot set, also for a shape that was seen without that', () => {
    const by = fresh();
    const whole = object({ data: { x: '1' }, more: { y: '1' } });
    expect(fields(updateManagers(undefined, whole, by))).toHaveProperty('f:data');
    const ignore = FieldSet.of(['f:data']);
    expect(fields(updateManagers(undefined, whole, { ...by, ignore }))).toEqual({
      'f:more': { '.': {}, 'f:y': {} },
    });
    expect(updateManagers(undefined, object({}), by).metadata.managedFields).toBeUndefined();
  });
});
