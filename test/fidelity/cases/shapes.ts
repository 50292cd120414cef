export const text = { type: 'string' };
const item = { type: 'object', properties: { k: text, v: text } };

/** A place of a structural schema, what may stand there, and where nulls are put. */
export interface Shape {
  schema: object;
  good: unknown;
  nulls: unknown[];
}

export const shapes: Readonly<Record<string, Shape>> = {
  text: { schema: text, good: 'a', nulls: [null] },
  textNullable: { schema: { ...text, nullable: true }, good: 'a', nulls: [null] },
  textDefault: { schema: { ...text, default: 'd' }, good: 'a', nulls: [null] },
  textNullableDefault: { schema: { ...text, nullable: true, default: 'd' }, good: 'a', nulls: [null] },
  integer: { schema: { type: 'integer' }, good: 1, nulls: [null] },
  number: { schema: { type: 'number', nullable: true }, good: 1.5, nulls: [null] },
  bool: { schema: { type: 'boolean' }, good: true, nulls: [null] },
  object: {
    schema: { type: 'object', properties: { a: text, b: { ...text, nullable: true } } },
    good: { a: 'x' },
    nulls: [null, { a: null }, { b: null }, { a: null, b: 'y' }],
  },
  objectNullable: {
    schema: { type: 'object', nullable: true, properties: { a: text } },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  objectDefault: {
    schema: { type: 'object', default: {}, properties: { a: { ...text, default: 'd' } } },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  objectRequired: {
    schema: { type: 'object', required: ['a'], properties: { a: text } },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  objectEmpty: { schema: { type: 'object' }, good: {}, nulls: [null] },
  list: { schema: { type: 'array', items: text }, good: ['a'], nulls: [null, [null], ['a', null]] },
  listNullable: {
    schema: { type: 'array', nullable: true, items: text },
    good: ['a'],
    nulls: [null, [null]],
  },
  listOfNullable: {
    schema: { type: 'array', items: { ...text, nullable: true } },
    good: ['a'],
    nulls: [[null]],
  },
  listOfObjects: {
    schema: {
      type: 'array',
      items: { type: 'object', properties: { a: text, n: { ...text, nullable: true } } },
    },
    good: [{ a: 'x' }],
    nulls: [[null], [{ a: null }], [{ n: null }], [{ a: 'x' }, null]],
  },
  listOfDefaults: {
    schema: { type: 'array', items: { type: 'object', properties: { a: { ...text, default: 'd' } } } },
    good: [{ a: 'x' }],
    nulls: [[null], [{ a: null }]],
  },
  set: {
    schema: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    good: ['a'],
    nulls: [null, [null], ['a', null]],
  },
  keyed: {
    schema: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { ...item, required: ['k'] },
    },
    good: [{ k: 'a', v: 'x' }],
    nulls: [null, [null], [{ k: 'a', v: null }], [{ k: null }]],
  },
  keyedDefault: {
    schema: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { ...item, properties: { ...item.properties, k: { ...text, default: 'd' } } },
    },
    good: [{ k: 'a', v: 'x' }],
    nulls: [[{ k: null, v: 'x' }], [{ v: 'x' }]],
  },
  map: {
    schema: { type: 'object', additionalProperties: text },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  mapOfNullable: {
    schema: { type: 'object', additionalProperties: { ...text, nullable: true } },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  mapOfObjects: {
    schema: { type: 'object', additionalProperties: item },
    good: { a: { k: 'x' } },
    nulls: [{ a: null }, { a: { k: null } }],
  },
  mapOfDefaults: {
    schema: { type: 'object', additionalProperties: { ...text, default: 'd' } },
    good: { a: 'x' },
    nulls: [{ a: null }],
  },
  anything: {
    schema: { 'x-kubernetes-preserve-unknown-fields': true },
    good: { a: 'x' },
    nulls: [null, { a: null }, [null]],
  },
  anythingNullable: {
    schema: { 'x-kubernetes-preserve-unknown-fields': true, nullable: true },
    good: { a: 'x' },
    nulls: [null],
  },
  open: {
    schema: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: text, o: item },
    },
    good: { a: 'x', z: 1 },
    nulls: [null, { a: null }, { z: null }, { o: null }, { o: { k: null } }],
  },
  openMap: {
    schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    good: { z: 1 },
    nulls: [null, { z: null }, { z: { y: null } }],
  },
  intOrString: { schema: { 'x-kubernetes-int-or-string': true }, good: 1, nulls: [null] },
  intOrStringNullable: {
    schema: { 'x-kubernetes-int-or-string': true, nullable: true },
    good: '5%',
    nulls: [null],
  },
  intOrStringDefault: { schema: { 'x-kubernetes-int-or-string': true, default: 3 }, good: 1, nulls: [null] },
  embedded: {
    schema: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    good: { apiVersion: 'v1', kind: 'X' },
    nulls: [
      null,
      { apiVersion: 'v1', kind: 'X', metadata: null },
      { apiVersion: 'v1', kind: 'X', spec: null },
      { apiVersion: 'v1', kind: null },
    ],
  },
  embeddedClosed: {
    schema: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object', properties: { a: text } } },
    },
    good: { apiVersion: 'v1', kind: 'X' },
    nulls: [
      null,
      { apiVersion: 'v1', kind: 'X', spec: null },
      { apiVersion: 'v1', kind: 'X', spec: { a: null } },
    ],
  },
  choice: { schema: { ...text, enum: ['a', 'b'] }, good: 'a', nulls: [null] },
  choiceNullable: { schema: { ...text, nullable: true, enum: ['a'] }, good: 'a', nulls: [null] },
  choiceNull: { schema: { ...text, nullable: true, enum: ['a', null] }, good: 'a', nulls: [null] },
  anyOf: {
    schema: { type: 'object', properties: { a: text }, anyOf: [{ required: ['a'] }, { maxProperties: 0 }] },
    good: { a: 'x' },
    nulls: [null, { a: null }],
  },
  bytes: { schema: { ...text, format: 'byte' }, good: 'YQ==', nulls: [null] },
  time: { schema: { ...text, format: 'date-time' }, good: '2024-01-02T03:04:05Z', nulls: [null] },
};
