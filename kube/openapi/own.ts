import type { JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';

/** As an OpenAPI 3 schema, whose words of validation hold for a structural one as well. */
export function openapiOf(schema: Schema): JsonObject {
  switch (schema.type) {
    case 'object': {
      const fields = [...schema.fields.values()];
      const required = fields.filter((f) => f.required).map((f) => f.name);
      return {
        ...(schema.description !== undefined && { description: schema.description }),
        type: 'object',
        ...(required.length > 0 && { required }),
        properties: Object.fromEntries(
          fields.map((f) => [
            f.name,
            { ...(f.description !== undefined && { description: f.description }), ...openapiOf(f.schema) },
          ]),
        ),
        ...(schema.open && { 'x-kubernetes-preserve-unknown-fields': true }),
        ...(schema.atomic && { 'x-kubernetes-map-type': 'atomic' }),
      };
    }
    case 'map':
      return {
        type: 'object',
        additionalProperties: openapiOf(schema.values),
        ...(schema.atomic && { 'x-kubernetes-map-type': 'atomic' }),
      };
    case 'list':
      return {
        type: 'array',
        items: openapiOf(schema.items),
        ...(schema.listType && { 'x-kubernetes-list-type': schema.listType }),
        ...(schema.listMapKeys && { 'x-kubernetes-list-map-keys': [...schema.listMapKeys] }),
      };
    case 'string': {
      const format = schema.format === 'quantity' ? undefined : schema.format;
      return { type: 'string', ...(format && { format }), ...(schema.enum && { enum: [...schema.enum] }) };
    }
    case 'integer':
      return { type: 'integer', format: schema.format };
    case 'int-or-string':
      return { 'x-kubernetes-int-or-string': true };
    case 'any':
      return { 'x-kubernetes-preserve-unknown-fields': true };
    default:
      return { type: schema.type };
  }
}
