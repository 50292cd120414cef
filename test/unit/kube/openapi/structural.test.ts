import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../kube/object.ts';
import { customDefinition, customList } from '../../../../kube/openapi/custom.ts';
import { openapi3, swagger } from '../../../../kube/openapi/definition.ts';
import { publishedSchema } from '../../../../kube/openapi/structural.ts';

const text = { type: 'string' };
const open = { 'x-kubernetes-preserve-unknown-fields': true };
const port = { 'x-kubernetes-int-or-string': true };
const ports = [{ type: 'integer' }, { type: 'string' }];

/** A schema, and what OpenAPI 2 says of it. */
const two: [string, JsonObject, JsonObject][] = [
  ['a text', { ...text, default: 'a', description: 'b' }, { ...text, description: 'b' }],
  ['what may be null', { ...text, nullable: true, enum: ['a'] }, { enum: ['a'] }],
  ['a list that may be null', { type: 'array', nullable: true, items: text }, {}],
  [
    'an object that may be null',
    { type: 'object', nullable: true, properties: { a: text }, required: ['a'] },
    { required: ['a'] },
  ],
  [
    'a map that may be null',
    { type: 'object', nullable: true, additionalProperties: text },
    { additionalProperties: text },
  ],
  [
    'fields that may be null',
    { type: 'object', properties: { a: { ...text, nullable: true }, b: text }, required: ['a', 'b'] },
    { type: 'object', properties: { a: {}, b: text }, required: ['b'] },
  ],
  [
    'values that may be null',
    { type: 'object', additionalProperties: { ...text, nullable: true }, required: ['a'] },
    { type: 'object', additionalProperties: {} },
  ],
  ['an open object', { type: 'object', ...open, properties: { a: text } }, open],
  ['a list of them', { type: 'array', items: { type: 'object', ...open } }, { type: 'array', items: open }],
  ['choices', { ...text, anyOf: [{}], allOf: [{}], oneOf: [{}], not: {} }, text],
  ['a port', { ...port, anyOf: ports }, port],
];

/** A schema, and what OpenAPI 3 says of it. */
const three: [string, JsonObject, JsonObject][] = [
  ['a text', { ...text, default: 'a', nullable: true }, { ...text, default: 'a', nullable: true }],
  ['a port', { type: 'array', items: port }, { type: 'array', items: { ...port, anyOf: ports } }],
  ['a port that says so', { ...port, anyOf: ports }, { ...port, anyOf: ports }],
  [
    'one that says so among others',
    { ...port, allOf: [{ anyOf: ports }] },
    { ...port, allOf: [{ anyOf: ports }] },
  ],
  [
    'a port of some',
    { ...port, anyOf: [{ pattern: 'a' }], allOf: [{ minLength: 1 }] },
    { ...port, anyOf: [{ pattern: 'a' }], allOf: [{ anyOf: ports }, { minLength: 1 }] },
  ],
];

describe('the schema of a definition', () => {
  it.each(two)('in OpenAPI 2: %s', (_, schema, expected) => {
    expect(publishedSchema(schema, swagger)).toEqual(expected);
  });

  it.each(three)('in OpenAPI 3: %s', (_, schema, expected) => {
    expect(publishedSchema(schema, openapi3)).toEqual(expected);
  });

  it('says of an object inside it what each object has, but to kubectl of an open one', () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, required: ['kind'] };
    const head = { required: ['kind', 'apiVersion'], properties: { metadata: {}, kind: text } };
    for (const dialect of [swagger, openapi3]) expect(publishedSchema(embedded, dialect)).toMatchObject(head);
    expect(publishedSchema({ ...embedded, ...open }, openapi3)).toMatchObject(head);
    expect(publishedSchema({ ...embedded, ...open }, swagger)).not.toHaveProperty('properties');
  });
});

describe('a custom kind', () => {
  const gvk = { group: 'example.org', version: 'v1', kind: 'Ox' };
  const custom = { schema: { type: 'object' }, listKind: 'Oxen', selectableFields: ['.spec.a'] };
  const selectable = { 'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.a' }] };

  it('has lists by the name that its definition gives them', () => {
    expect(customList(gvk, 'oxen', custom, openapi3)).toMatchObject({
      description: 'Oxen is a list of Ox',
      properties: { items: { description: expect.stringContaining('List of oxen.') } },
      ...selectable,
    });
  });

  it('says what can be selected by, in either version', () => {
    for (const dialect of [swagger, openapi3])
      expect(customDefinition(custom, dialect)).toMatchObject(selectable);
  });
});
