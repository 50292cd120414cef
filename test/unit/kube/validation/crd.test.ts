import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../kube/object.ts';
import { named } from '../kinds.ts';
import { causesOf } from './refused.ts';

const names = { plural: 'tides', singular: 'tide', kind: 'Tide', listKind: 'TideList' };
const definition = (spec: object, version: object = {}): KubeObject =>
  named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
    metadata: { name: 'tides.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
          ...version,
        },
      ],
      ...spec,
    },
  });
const schema = (properties: object, rest: object = {}) =>
  definition({}, { schema: { openAPIV3Schema: { type: 'object', properties, ...rest } } });
const at = 'spec.validation.openAPIV3Schema';
const list = (rest: object) => schema({ list: { type: 'array', items: { type: 'string' }, ...rest } });
const rule = (value: object) => schema({ spec: { type: 'object' } }, { 'x-kubernetes-validations': [value] });
const webhook = {
  clientConfig: { service: { namespace: 'reef', name: 'web' } },
  conversionReviewVersions: ['v1'],
};

const hint =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
const contributed =
  'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
const shownRefusal =
  'spec.validation.openAPIV3Schema: Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,"Format":"","Title":"","Default":null,"Maximum":2,"ExclusiveMaximum":false,"Minimum":null,"ExclusiveMinimum":false,"MaxLength":null,"MinLength":null,"Pattern":"","MaxItems":null,"MinItems":null,"UniqueItems":false,"MultipleOf":null,"Enum":null,"MaxProperties":null,"MinProperties":1,"Required":null,"Items":null,"AllOf":null,"OneOf":null,"AnyOf":null,"Not":null,"Properties":null,"AdditionalProperties":null,"PatternProperties":null,"Dependencies":null,"AdditionalItems":null,"Definitions":null,"ExternalDocs":null,"Example":null,"XPreserveUnknownFields":null,"XEmbeddedResource":false,"XIntOrString":false,"XListMapKeys":null,"XListType":null,"XMapType":null,"XValidations":null}: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled';

const shownRule = (expression: string) =>
  `{"Rule":${JSON.stringify(expression)},"Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}`;
const unstartable = ([expression, why]: readonly [string, string]): [string, KubeObject, string[]] => [
  `a rule that converts what cannot be: ${expression}`,
  rule({ rule: expression }),
  [
    `${at}.x-kubernetes-validations[0].rule: Invalid value: ${shownRule(expression)}: program instantiation failed: ${why}`,
  ],
];
const illFormatted = ([expression, column, why]: readonly [string, number, string]): [
  string,
  KubeObject,
  string[],
] => [
  `a rule that formats what cannot be: ${expression}`,
  rule({ rule: expression }),
  [
    `${at}.x-kubernetes-validations[0].rule: Invalid value: ${shownRule(expression)}: compilation failed: ERROR: <input>:1:${column}: ${why}\n | ${expression}\n | ${'.'.repeat(column - 1)}^`,
  ],
];

const refused: [string, KubeObject, string[]][] = [
  [
    'a reference, and nothing else of what it is in',
    schema({ a: { $ref: 'x' }, b: {} }),
    [`${at}.properties[a].$ref: Forbidden: $ref is not supported`],
  ],
  [
    'a list of schemas, and nothing else',
    schema({ a: { type: 'array', items: [{}] }, b: {} }),
    [`${at}.properties[a].items: Forbidden: items must be a schema object and not an array`],
  ],
  [
    'what does not preserve unknown fields, and nothing else',
    schema({ a: { 'x-kubernetes-preserve-unknown-fields': false } }),
    [
      `${at}.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`,
    ],
  ],
  [
    'a schema of another dialect',
    schema({}, { $schema: 'https://json-schema.org/draft/2020-12/schema' }),
    [`${at}: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`],
  ],
  ...(
    [
      ['int("x") == 1', "type conversion error from 'string' to 'int'"],
      ['bool("x")', "type conversion error from 'string' to 'bool'"],
      ['double("x") == 1.0', "type conversion error from 'string' to 'double'"],
      ['uint(-1) == 1u', 'unsigned integer overflow'],
      ['int(1e30) == 1', 'integer overflow'],
      ['has(self.spec) || uint(string(-1)) == 1u', "type conversion error from 'string' to 'uint'"],
      ['"a".find("(") == "" || "a".find("x(") == ""', 'error parsing regexp: missing closing ): `(`'],
      [
        '"a".findAll("*", 1).size() == 0',
        'error parsing regexp: missing argument to repetition operator: `*`',
      ],
      ['"a".find(string("[")) == ""', 'error parsing regexp: missing closing ]: `[`'],
      ['"a".findAll(dyn("[")).size() == 0', 'error parsing regexp: missing closing ]: `[`'],
      ['"a".find(string(b"[")) == ""', 'error parsing regexp: missing closing ]: `[`'],
      ['"a".matches(string("["))', 'error parsing regexp: missing closing ]: `[`'],
      ['matches("a", string("["))', 'error parsing regexp: missing closing ]: `[`'],
    ] as const
  ).map(unstartable),
  ...(
    [
      [
        '"%d".format(["a"]) == ""',
        14,
        'error during formatting: decimal clause can only be used on integers, was given string',
      ],
      ['"%q".format([1]) == ""', 12, 'could not parse formatting clause: unrecognized formatting clause "q"'],
      ['"%s %s".format([1]) == ""', 15, 'index 1 out of range'],
      ['"%s".format([1, 2]) == ""', 12, 'too many arguments supplied to string.format (expected 1, got 2)'],
    ] as const
  ).map(illFormatted),
  [
    'a field without a type',
    schema({ a: {} }),
    [`${at}.properties[a].type: Required value: must not be empty for specified object fields`],
  ],
  [
    'a type that is none',
    schema({ a: { type: 'text' } }),
    [
      `${at}.properties[a].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    ],
  ],
  [
    'a list without items',
    schema({ a: { type: 'array' } }),
    [`${at}.properties[a].items: Required value: must be specified`],
  ],
  [
    'a type within anyOf',
    schema({ a: { type: 'string', anyOf: [{ type: 'string' }] } }),
    [`${at}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural`],
  ],
  [
    'a field within allOf only',
    schema({}, { allOf: [{ properties: { b: { minimum: 1 } } }] }),
    [`${at}.properties[b]: Required value: because it is defined in ${at}.allOf[0].properties[b]`],
  ],
  [
    'a pattern that does not end',
    schema({ a: { type: 'string', pattern: '[a' } }),
    [
      `${at}.properties[a].pattern: Invalid value: "[a": must be a valid regular expression, but isn't: error parsing regexp: missing closing ]: \`[a\``,
    ],
  ],
  [
    'metadata of its own',
    schema({ metadata: { type: 'object', properties: { labels: { type: 'object' } } } }),
    [
      `${at}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
  ],
  [
    'a map list without keys',
    list({ 'x-kubernetes-list-type': 'map' }),
    [
      `${at}.properties[list].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
      `${at}.properties[list].items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`,
    ],
  ],
  [
    'a key that may be missing',
    list({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name: { type: 'string' } } },
    }),
    [
      `${at}.properties[list].items.properties[name].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
    ],
  ],
  [
    'unique items',
    list({ uniqueItems: true }),
    [
      `${at}.properties[list].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
  ],
  [
    'a rule that does not compile',
    rule({ rule: 'other' }),
    [
      `${at}.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"other","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other\n | ^`,
    ],
  ],
  [
    'a rule about a path that is none',
    rule({ rule: 'true', fieldPath: '.status' }),
    [`${at}.x-kubernetes-validations[0].fieldPath: Invalid value: ".status": must be a valid path`],
  ],
  [
    'a rule on what was, in a list that does not say which',
    list({
      maxItems: 10,
      items: { type: 'string', maxLength: 10, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
    }),
    [
      `${at}.properties[list].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${at}.properties[list]`,
    ],
  ],
  [
    'a rule that may take too long',
    list({ 'x-kubernetes-validations': [{ rule: 'self.all(a, self.all(b, a == b || a.contains(b)))' }] }),
    [
      `${at}.properties[list].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${hint}`,
      `${at}.properties[list].x-kubernetes-validations[0].rule: Forbidden: ${contributed}`,
      `${at}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${hint}`,
    ],
  ],
  [
    'rules that may take too long together',
    list({
      maxItems: 1000,
      items: {
        type: 'string',
        maxLength: 2000,
        'x-kubernetes-validations': Array(45).fill({ rule: "self.contains('abcdefghijklmnopqrstuvwxyz')" }),
      },
    }),
    [
      ...[0, 1, 2, 3].map(
        (i) => `${at}.properties[list].items.x-kubernetes-validations[${i}].rule: Forbidden: ${contributed}`,
      ),
      `${at}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.080450x ${hint}`,
    ],
  ],
  [
    'a rule beside what has no type',
    schema(
      {
        a: {
          type: 'other',
          properties: { b: { type: 'string', 'x-kubernetes-validations': [{ rule: 'true' }] } },
        },
      },
      { 'x-kubernetes-validations': [{ rule: 'true' }] },
    ),
    [
      `${at}.properties[a].type: Unsupported value: "other": supported values: "array", "boolean", "integer", "number", "object", "string"`,
      `${at}.properties[a].properties[b].x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations`,
    ],
  ],
  [
    'a schema that is no object where it is shown',
    definition(
      {},
      {
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', minProperties: 1, maximum: 2 } },
      },
    ),
    [shownRefusal],
  ],
  [
    'a default in metadata',
    schema({ kind: { type: 'string', default: 'Tide' } }),
    [`${at}.properties[kind].default: Forbidden: must not be set in top-level kind`],
  ],
  [
    'a scale that is elsewhere',
    definition(
      {},
      { subresources: { scale: { specReplicasPath: '.replicas', statusReplicasPath: '.status.replicas' } } },
    ),
    [
      'spec.subresources.scale.specReplicasPath: Invalid value: ".replicas": should be a json path under .spec',
    ],
  ],
  [
    'a selectable object',
    definition(
      {},
      {
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
        selectableFields: [{ jsonPath: '.spec' }, { jsonPath: '.other' }],
      },
    ),
    [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[1].jsonPath: Invalid value: ".other": is an invalid path: does not refer to a valid field',
    ],
  ],
  [
    'conversion by nobody',
    definition({ conversion: { strategy: 'Webhook' } }),
    [
      'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
      'spec.conversion.conversionReviewVersions: Required value',
    ],
  ],
  [
    'a webhook for no conversion',
    definition({ conversion: { strategy: 'None', webhook } }),
    [
      'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
      'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
    ],
  ],
  [
    'a warning of a version that is not deprecated',
    definition({}, { deprecationWarning: 'old' }),
    ['spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions'],
  ],
];

describe('CustomResourceDefinition', () => {
  it.each(refused)('refuses %s', (_what, object, expected) => {
    expect(causesOf(object)).toEqual(expected);
  });

  it.each<[string, KubeObject]>([
    [
      'a number or a text',
      schema({ a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] } }),
    ],
    ['a rule that uses its fields', rule({ rule: 'has(self.spec)', message: 'needs a spec' })],
    ['conversion by a webhook', definition({ conversion: { strategy: 'Webhook', webhook } })],
    ['unknown fields', schema({ a: { 'x-kubernetes-preserve-unknown-fields': true } })],
    [
      'names in metadata',
      schema({ metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } } }),
    ],
  ])('accepts %s', (_what, object) => {
    expect(causesOf(object)).toEqual([]);
  });

  it('tells of versions that differ where they are', () => {
    const versions = ['v1', 'v2'].map((name, i) => ({
      name,
      served: true,
      storage: i === 0,
      schema: { openAPIV3Schema: { type: 'object', properties: { a: i === 0 ? { type: 'string' } : {} } } },
    }));
    expect(causesOf(definition({ versions }))).toEqual([
      'spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
    ]);
  });

  it('does not follow a schema for ever', () => {
    let deep: object = { type: 'string' };
    for (let i = 0; i < 300; i++) deep = { type: 'object', properties: { a: deep } };
    expect(causesOf(schema({ a: deep }))).toEqual([]);
  });

  it('lets go of what an earlier release took, and takes no more of it', () => {
    const properties = { host: { type: 'string', format: 'hostname', default: 'no host' } };
    const old = schema(properties);
    const versioned = { ...old.metadata, resourceVersion: '1' };
    const labelled = { ...old, metadata: { ...versioned, labels: { a: 'b' } } };
    expect(causesOf(labelled, old)).toEqual([]);
    const more = schema({ ...properties, port: { type: 'string' } });
    expect(causesOf({ ...more, metadata: versioned }, old)).toEqual([
      `${at}.properties[host].default: Invalid value: "no host":  in body must be of type hostname: "no host"`,
    ]);
  });
});
