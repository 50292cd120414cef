import { describe, expect, it } from 'vitest';
import { builtinResources, schemaNamed, schemaOf } from '../../../../kube/schema/builtin.ts';
import type { ObjectSchema } from '../../../../kube/schema/schema.ts';

function field(schema: ObjectSchema | undefined, ...path: string[]) {
  let at = schema;
  let found = at?.fields.get(path[0] ?? '');
  for (const name of path.slice(1)) {
    let inner = found?.schema;
    while (inner?.type === 'list' || inner?.type === 'map')
      inner = inner.type === 'list' ? inner.items : inner.values;
    at = inner as ObjectSchema;
    found = at.fields.get(name);
  }
  return found;
}

const deployment = schemaOf({ group: 'apps', version: 'v1', kind: 'Deployment' });
const pod = schemaOf({ group: '', version: 'v1', kind: 'Pod' });

describe('built-in schemas', () => {
  it('has a schema for every served resource and subresource', () => {
    for (const resource of builtinResources) {
      expect(schemaOf(resource)?.fields.has('kind'), resource.kind).toBe(true);
      for (const sub of resource.subresources) {
        expect(schemaOf(sub), `${resource.resource}/${sub.name}`).toBeDefined();
      }
    }
  });

  it('knows list keys, merge keys, defaults and required fields', () => {
    const ports = field(pod, 'spec', 'containers', 'ports');
    expect(ports).toMatchObject({ patchStrategy: ['merge'], patchMergeKey: 'containerPort' });
    expect(ports?.schema).toMatchObject({ listType: 'map', listMapKeys: ['containerPort', 'protocol'] });
    expect(field(pod, 'spec', 'containers', 'ports', 'protocol')).toMatchObject({ default: 'TCP' });
    expect(field(deployment, 'spec', 'selector')).toMatchObject({ required: true, tag: 2 });
    expect(field(deployment, 'spec', 'strategy')).toMatchObject({ patchStrategy: ['retainKeys'], zero: {} });
    expect(field(deployment, 'spec', 'replicas')?.schema).toEqual({ type: 'integer', format: 'int32' });
  });

  it('flattens inlined structs and follows types that contain themselves', () => {
    expect(field(pod, 'spec', 'volumes', 'configMap', 'items', 'key')).toBeDefined();
    const props = schemaNamed('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
    expect(props?.fields.get('not')?.schema).toBe(props);
  });

  it('reads enums and atomic types', () => {
    expect(field(pod, 'spec', 'restartPolicy')?.schema).toMatchObject({
      enum: ['Always', 'Never', 'OnFailure'],
    });
    expect(field(deployment, 'spec', 'selector')?.schema).toMatchObject({ atomic: true });
    expect(field(pod, 'spec', 'nodeSelector')?.schema).toMatchObject({ type: 'map', atomic: true });
  });

  it('finds shared kinds under any group and refuses unknown ones', () => {
    expect(schemaOf({ group: 'apps', version: 'v1', kind: 'DeleteOptions' })).toBeDefined();
    expect(schemaOf({ group: 'apps', version: 'v1', kind: 'Pod' })).toBeUndefined();
    expect(schemaOf({ group: '', version: 'v1', kind: '__proto__' })).toBeUndefined();
  });
});
