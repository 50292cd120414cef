import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatApiVersion } from '../../kube/gvk.ts';
import { decodeJson } from '../../kube/json.ts';
import type { Json, JsonObject, KubeObject } from '../../kube/object.ts';
import { encodeProtobuf } from '../../kube/protobuf/codec.ts';
import { builtinResources, schemaOf } from '../../kube/schema/builtin.ts';
import type { ResourceInfo } from '../../kube/schema/resource.ts';
import type { Field, Schema } from '../../kube/schema/schema.ts';

/** An object with every field filled: valid in shape, hardly ever in meaning. */
export interface Golden {
  info: ResourceInfo;
  json: JsonObject;
  protobuf: Uint8Array;
}

/** From `dir` (`<group>.<version>.<Kind>.json` and `.pb`), else made from the schemas. */
export function goldenObjects(dir: string | undefined): Golden[] {
  const creatable = builtinResources.filter(({ verbs }) => verbs.includes('create'));
  if (dir === undefined) return creatable.map((info) => ({ info, ...filled(info) }));
  const files = new Set(readdirSync(dir));
  return creatable.flatMap((info) => {
    const name = `${info.group || 'core'}.${info.version}.${info.kind}`;
    if (!files.has(`${name}.json`)) return [];
    const json = decodeJson(readFileSync(join(dir, `${name}.json`))).value as JsonObject;
    return [{ info, json, protobuf: readFileSync(join(dir, `${name}.pb`)) }];
  });
}

function filled(info: ResourceInfo): Omit<Golden, 'info'> {
  const schema = schemaOf(info);
  if (!schema) throw new Error(`no schema of ${info.kind}`);
  const body = fill(schema, 'value', []) as JsonObject;
  const json = { ...body, apiVersion: formatApiVersion(info), kind: info.kind };
  return { json, protobuf: encodeProtobuf(json as unknown as KubeObject) };
}

/** Types that contain themselves are filled once. */
function fill(schema: Schema, name: string, above: readonly Schema[]): Json | undefined {
  switch (schema.type) {
    case 'object': {
      if (above.includes(schema)) return undefined;
      const fields = [...schema.fields.values()].map((field: Field) => [
        field.name,
        fill(field.schema, field.name, [...above, schema]),
      ]);
      return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as JsonObject;
    }
    case 'list': {
      const item = fill(schema.items, name, above);
      return item === undefined ? undefined : [item];
    }
    case 'map': {
      const item = fill(schema.values, name, above);
      return item === undefined ? undefined : { [`${name}Key`]: item };
    }
    case 'string':
      if (schema.format === 'byte') return Buffer.from(`${name}Value`).toString('base64');
      if (schema.format === 'date-time')
        return /^(eventTime|acquireTime|renewTime|lastObservedTime|pingTime)$/.test(name)
          ? '2008-01-01T01:01:01.000000Z'
          : '2008-01-01T01:01:01Z';
      if (schema.format === 'quantity') return '0';
      return /[dD]uration$|[tT]imeout$/.test(name) ? '1s' : `${name}Value`;
    case 'integer':
    case 'number':
      return (name.length % 7) + 1;
    case 'boolean':
      return true;
    case 'int-or-string':
      return `${name}Value`;
    case 'any':
      return undefined;
  }
}
