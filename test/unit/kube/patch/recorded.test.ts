import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { markEmpty } from '../../../../kube/defaults/empty.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../../kube/object.ts';
import { FieldSet } from '../../../../kube/patch/fields.ts';
import { applyServerSide, updateManagers } from '../../../../kube/patch/managed.ts';
import { schemaOf } from '../../../../kube/schema/builtin.ts';
import type { Field, Schema } from '../../../../kube/schema/schema.ts';
import { isStatusError, type Status } from '../../../../kube/status.ts';

/** Exchanges with kube-apiserver 1.36.3, in the order they were made. */
interface Step {
  desc: string;
  type: 'create' | 'apply' | 'smp' | 'merge' | 'json' | 'put';
  manager: string;
  force?: boolean;
  subresource?: string;
  apiVersion: string;
  kind: string;
  body?: KubeObject & { put?: true };
  live?: KubeObject;
  stored?: KubeObject;
  error?: { message: string; causes?: object[] };
}
const steps: Step[] = JSON.parse(readFileSync(new URL('./recorded.json', import.meta.url), 'utf8'));

const text: Schema = { type: 'string' };
function object(schemas: Record<string, Schema>, defaults: Record<string, unknown> = {}): Schema {
  const fields = new Map<string, Field>();
  for (const [name, schema] of Object.entries(schemas)) {
    fields.set(name, { name, schema, ...(name in defaults && { default: defaults[name] }) });
  }
  return { type: 'object', fields };
}

/** The custom resource of the recording: one field of every list and map type. */
function customSchema(): Schema {
  const deployment = schemaOf({ group: 'apps', version: 'v1', kind: 'Deployment' });
  const metadata = deployment?.fields.get('metadata')?.schema ?? text;
  const item = object({ name: text, v: text }, { v: 'dv' });
  const spec = object({
    n: { type: 'integer', format: 'int64' },
    set: { type: 'list', items: text, listType: 'set' },
    list: { type: 'list', items: item, listType: 'map', listMapKeys: ['name'] },
    atomic: { type: 'list', items: text },
    amap: { type: 'map', values: text, atomic: true },
    gmap: { type: 'map', values: text },
    any: { type: 'any' },
    nul: text,
    obj: object({ a: text, b: text }),
  });
  return object({ apiVersion: text, kind: text, metadata, spec, status: object({ x: text }) });
}

function schemaFor({ apiVersion, kind }: Step): Schema {
  if (kind === 'Kp') return customSchema();
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const schema = schemaOf({ group: group ?? '', version: version ?? '', kind });
  if (!schema) throw new Error(`no schema for ${kind}`);
  return schema;
}

function resetFields({ kind, subresource }: Step): FieldSet | undefined {
  if (kind === 'ConfigMap') return undefined;
  if (!subresource) return FieldSet.of(['f:status']);
  return FieldSet.of(['f:spec'], kind === 'Deployment' ? ['f:metadata', 'f:labels'] : ['f:metadata']);
}

/** The server's clock: the time of an entry that this write touched. */
function timeOf({ live, stored, manager }: Step): string {
  const identity = (m: ManagedFieldsEntry) => JSON.stringify([m.manager, m.operation, m.subresource, m.time]);
  const before = new Set(live?.metadata.managedFields?.map(identity));
  const touched = stored?.metadata.managedFields?.find((m) => m.time && !before.has(identity(m)));
  // Within the same second the entry looks untouched; then its own time is the clock.
  const own = stored?.metadata.managedFields?.find((m) => m.manager === manager);
  return touched?.time ?? own?.time ?? '2026-11-21T11:27:55Z';
}

function next(step: Step): KubeObject {
  const { body, live, stored } = step;
  if (!stored) throw new Error('nothing stored');
  const { managedFields: _, ...metadata } = stored.metadata;
  const given = body?.metadata ? body.metadata.managedFields : live?.metadata.managedFields;
  const kept = body?.put ? undefined : given;
  return { ...stored, metadata: { ...metadata, ...(kept && { managedFields: kept }) } };
}

function run(step: Step): KubeObject {
  const { manager, apiVersion, subresource } = step;
  const by = {
    schema: schemaFor(step),
    manager,
    apiVersion,
    subresource,
    time: timeOf(step),
    ignore: resetFields(step),
  };
  if (step.type !== 'apply') return updateManagers(step.live, next(step), by);
  const body = step.body ?? { apiVersion, kind: step.kind, metadata: {} };
  return applyServerSide(step.live, body, { ...by, force: step.force === true }).object;
}

function statusOf(step: Step): Status | undefined {
  try {
    run(step);
  } catch (error) {
    if (isStatusError(error)) return error.toStatus();
    throw error;
  }
  return undefined;
}

const sorted = (causes: object[] | undefined) => causes?.map((c) => JSON.stringify(c)).sort();

describe('managedFields as kube-apiserver writes them', () => {
  it.each(steps.filter((s) => s.stored))('$desc', (step) => {
    const { managedFields } = run(step).metadata;
    const expected = step.stored?.metadata.managedFields;
    expect(managedFields).toEqual(expected);
    const inOrder = (entries: ManagedFieldsEntry[] | undefined) =>
      JSON.stringify(entries?.map((e) => e.fieldsV1));
    expect(inOrder(managedFields)).toBe(inOrder(expected));
  });
});

describe('applies that kube-apiserver refuses', () => {
  it.each(steps.filter((s) => s.error))('$desc', (step) => {
    const status = statusOf(step);
    expect(status?.message).toBe(step.error?.message);
    expect(sorted(status?.details?.causes)).toEqual(sorted(step.error?.causes));
  });
});

describe('managedFields of updates', () => {
  const own = (kind: string, object: object) => {
    const schema = schemaOf({ group: '', version: 'v1', kind });
    if (!schema) throw new Error(`no schema for ${kind}`);
    const next = { apiVersion: 'v1', kind, metadata: { name: 'reef' }, ...object };
    return updateManagers(undefined, next, { schema, manager: 'tide', apiVersion: 'v1', time: '' });
  };
  const fields = (object: KubeObject) => object.metadata.managedFields?.map((entry) => entry.fieldsV1);

  it('are none of an object with an item without its key', () => {
    expect(fields(own('ServiceAccount', { secrets: [{ name: 'a' }] }))).toHaveLength(1);
    expect(fields(own('ServiceAccount', { secrets: [{}, { name: 'a' }] }))).toBeUndefined();
  });

  it('own a list that was given empty where Go always writes it', () => {
    const spec = { limits: null };
    markEmpty(spec, 'limits', true);
    expect(fields(own('LimitRange', { spec }))).toEqual([{ 'f:spec': { 'f:limits': {} } }]);
    const account = {};
    markEmpty(account, 'secrets', true);
    expect(fields(own('ServiceAccount', account))).toBeUndefined();
  });
});
