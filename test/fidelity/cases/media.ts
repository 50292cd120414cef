import { encodeProtobuf } from '../../../kube/protobuf/codec.ts';
import { encodeYaml } from '../../../kube/yaml.ts';
import type { Case, Names, Step } from '../case.ts';
import { type Fixture, fixtureOf, fixtures } from '../fixtures.ts';
import { get } from './reading.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';

export function mediaCases(): Case[] {
  return [...fixtures.map(bodies), ...answers(), ...accepts(), ...yamls(), ...spoiled()];
}

/** Every kind in every encoding, in and out. */
function bodies(fixture: Fixture): Case {
  const { group, version, resource } = fixture.info;
  return {
    id: `media/bodies/${group || 'core'}.${version}.${resource}`,
    area: 'media',
    steps: (names) => {
      const path = `${fixture.path(names)}?dryRun=All`;
      const object = fixture.object(names);
      const send = (body: object | string | Uint8Array, contentType: string, accept: string): Step => ({
        method: 'POST',
        path,
        body,
        contentType,
        accept,
      });
      return [
        send(encodeProtobuf(object), protobuf, 'application/json'),
        send(encodeProtobuf(object), protobuf, protobuf),
        send(encodeProtobuf(object), protobuf, `${protobuf}, */*`),
        send(object, 'application/json', protobuf),
        send(object, 'application/json; charset=utf-8', `${protobuf},application/json`),
        send(object, 'application/json', 'application/yaml'),
        send(encodeYaml(object), 'application/yaml', 'application/json'),
        send(object, 'application/json', 'application/json;as=Table;v=v1;g=meta.k8s.io'),
        send(object, 'application/json', 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'),
        send(object, 'application/cbor', 'application/json'),
      ];
    },
  };
}

/** What answers a POST with an object that is stored nowhere, in every form. */
function answers(): Case[] {
  const attributes = { nonResourceAttributes: { path: '/', verb: 'get' } };
  const review = (kind: string, spec: object, group = 'authorization') => ({
    apiVersion: `${group}.k8s.io/v1`,
    kind,
    spec,
  });
  const reviews = '/apis/authorization.k8s.io/v1';
  const posts: Readonly<Record<string, (names: Names) => { path: string; body: object }>> = {
    selfsubjectaccessreviews: () => ({
      path: `${reviews}/selfsubjectaccessreviews`,
      body: review('SelfSubjectAccessReview', attributes),
    }),
    subjectaccessreviews: () => ({
      path: `${reviews}/subjectaccessreviews`,
      body: review('SubjectAccessReview', { ...attributes, user: 'somebody' }),
    }),
    localsubjectaccessreviews: ({ ns }) => ({
      path: `${reviews}/namespaces/${ns}/localsubjectaccessreviews`,
      body: review('LocalSubjectAccessReview', {
        resourceAttributes: { namespace: ns, verb: 'get', resource: 'pods' },
        user: 'somebody',
      }),
    }),
    selfsubjectrulesreviews: ({ ns }) => ({
      path: `${reviews}/selfsubjectrulesreviews`,
      body: review('SelfSubjectRulesReview', { namespace: ns }),
    }),
    tokenreviews: () => ({
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      body: review('TokenReview', { token: 'nothing' }, 'authentication'),
    }),
    selfsubjectreviews: () => ({
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: review('SelfSubjectReview', {}, 'authentication'),
    }),
    tokens: ({ ns }) => ({
      path: `/api/v1/namespaces/${ns}/serviceaccounts/none/token`,
      body: review('TokenRequest', {}, 'authentication'),
    }),
  };
  const accepted = [
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    'application/yaml',
    protobuf,
    'application/json;as=Nothing;v=v1;g=meta.k8s.io',
    'text/plain',
  ];
  return Object.entries(posts).map(([name, post]) => ({
    id: `media/answers/${name}`,
    area: 'media',
    steps: (names) => accepted.map((accept): Step => ({ method: 'POST', accept, ...post(names) })),
  }));
}

function accepts(): Case[] {
  const values = [
    'application/json',
    '*/*',
    '',
    'application/*',
    'text/*',
    'text/plain',
    'text/html',
    'application/xml',
    'application/json, */*',
    'application/json;q=0.5,application/yaml',
    'application/json;q=0',
    'application/yaml, application/json;q=0.9',
    `${protobuf}, */*`,
    `${protobuf},application/json`,
    `${protobuf};q=0.1,application/json`,
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8, text/plain',
    'application/cbor',
    'application/cbor, application/json',
    'application/cbor-seq',
    'application/json;as=Table;v=v2;g=meta.k8s.io',
    'application/json;as=Table;g=meta.k8s.io',
    'application/json;as=Table;v=v1',
    'application/json;as=Table;v=v1;g=other',
    'application/json;as=Nothing;v=v1;g=meta.k8s.io',
    'application/json;as=Table;v=v2;g=meta.k8s.io,application/json',
    'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
    'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io',
    `${protobuf};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json`,
    `${protobuf};as=Table;v=v1;g=meta.k8s.io`,
    'application/yaml;as=Table;v=v1;g=meta.k8s.io',
    'application/json;pretty=1',
    'application/json;stream=watch',
    'garbage',
    ',',
    ';',
    'application/json;q=x',
    'a/b/c',
    '*',
    'APPLICATION/JSON',
    'application/json;as=table;v=v1;g=meta.k8s.io',
    'application/apply-patch+yaml',
    'text/yaml',
    'application/x-yaml',
    'application/json; as = Table; v = v1; g = meta.k8s.io',
  ];
  const fixture = fixtureOf('secrets');
  return values.map((accept, i) => ({
    id: `media/accept/${i}`,
    area: 'media',
    ownNamespace: true,
    steps: (names) => [
      { method: 'POST', path: fixture.path(names), body: fixture.object(names), silent: true },
      get(fixture.path(names), accept),
      get(`${fixture.path(names)}/${names.name}`, accept),
      get(`${fixture.path(names)}/none`, accept),
      get(`${fixture.path(names)}?watch=true&timeoutSeconds=1`, accept),
      { method: 'DELETE', path: `${fixture.path(names)}/none`, accept },
      get('/version', accept),
      {
        method: 'GET',
        path: `${fixture.path(names)}/${names.name}`,
        accept,
        headers: { 'accept-encoding': 'gzip' },
      },
    ],
  }));
}

/** Scalars as Go's YAML reader takes them: in a string field, and in a field that takes anything. */
function yamls(): Case[] {
  const scalars = [
    'yes',
    'no',
    'on',
    'off',
    'y',
    'n',
    'Y',
    'N',
    'true',
    'True',
    'TRUE',
    'tRue',
    'null',
    '~',
    'Null',
    '',
    '014',
    '0o14',
    '0b11',
    '0x1F',
    '1_000',
    '1__0',
    '12:30:45',
    '190:20:30',
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    '.5',
    '5.',
    '1e3',
    '1E+3',
    '.inf',
    '-.inf',
    '.nan',
    '+1',
    '-0',
    '0',
    '00',
    '09',
    '9223372036854775807',
    '9223372036854775808',
    '18446744073709551616',
    '-9223372036854775808',
    '1.0',
    '1.10',
    '"yes"',
    "'1'",
    '!!str 1',
    '!!int "1"',
    '!!binary aGk=',
    '!!float 1',
    '!!bool yes',
    '!x 1',
    '|\n    text\n',
    '>-\n    folded\n    text',
    '[a, b]',
    '{a: b}',
    '"\\x41\\u00e9"',
    '=',
    '<<',
    '@x',
    '%x',
    '`x',
    '- x',
    '? x',
    '#x',
    "'it''s'",
    '0x',
    '1e',
    '1.2.3',
    '0.1e-5',
    '0b',
    '0o8',
    '08',
    'NO',
    'False',
    '! 1',
  ];
  return [
    ...scalars.map(
      (scalar, i): Case => ({
        id: `media/yaml/${i}`,
        area: 'media',
        steps: (names: Names) => [
          {
            method: 'POST',
            path: `/api/v1/namespaces/${names.ns}/configmaps?dryRun=All`,
            contentType: 'application/yaml',
            body: `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${names.name}\ndata:\n  a: ${scalar}\n`,
          },
          {
            method: 'POST',
            path: `/apis/apps/v1/namespaces/${names.ns}/controllerrevisions?dryRun=All`,
            contentType: 'application/yaml',
            body: `apiVersion: apps/v1\nkind: ControllerRevision\nmetadata:\n  name: ${names.name}\nrevision: 1\ndata:\n  a: ${scalar}\n`,
          },
        ],
      }),
    ),
    ...[
      'a: 1\na: 2',
      'a: &x 1\nb: *x',
      '<<: {a: 1}\nb: 2',
      'a: *none',
      '\ta: 1',
      'a: 1\n---\nb: 2',
      '--- a',
      'a: "unclosed',
      '{a: 1',
      'a: b: c',
      '1: x',
      'true: x',
      'null: x',
      '[a]: x',
      '{a: b}: x',
      '? a\n: b',
      '# only a comment',
      '...',
      '%YAML 1.1\n---\na: b',
      'a: !!set {b}',
      'a:\n- b\n -c',
      'a: |2\n    x\n',
      '\ufeffa: b',
      'a: \u0007',
      '"a": 1',
      'a: {b: [c, {d: e}]}',
      'a: 1 # note',
      "a: '\n\n x'",
    ].map(
      (text, i): Case => ({
        id: `media/yaml-text/${i}`,
        area: 'media',
        steps: (names) => [
          {
            method: 'POST',
            path: `/apis/apps/v1/namespaces/${names.ns}/controllerrevisions?dryRun=All`,
            contentType: 'application/yaml',
            body: `apiVersion: apps/v1\nkind: ControllerRevision\nmetadata:\n  name: ${names.name}\nrevision: 1\ndata:\n${text.replaceAll(/^/gm, '  ')}\n`,
          },
          {
            method: 'POST',
            path: `/api/v1/namespaces/${names.ns}/configmaps?dryRun=All`,
            contentType: 'application/yaml',
            body: text,
          },
          {
            method: 'PATCH',
            path: `/api/v1/namespaces/${names.ns}/configmaps/${names.name}?dryRun=All&fieldManager=a`,
            contentType: 'application/apply-patch+yaml',
            body: text,
          },
        ],
      }),
    ),
  ];
}

/** Bodies that are no objects. */
function spoiled(): Case[] {
  const good = (names: Names) => encodeProtobuf(fixtureOf('configmaps').object(names));
  const makers: [string, string, (names: Names) => string | Uint8Array][] = [
    ['json-number', 'application/json', () => '1'],
    ['json-deep', 'application/json', () => `${'{"a":'.repeat(11_000)}1${'}'.repeat(11_000)}`],
    ['json-list', 'application/json', () => '[{}]'],
    ['json-utf8', 'application/json', () => Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
    [
      'json-surrogate',
      'application/json',
      () => '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"\\ud800"}}',
    ],
    [
      'json-nul',
      'application/json',
      () => '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"\\u0000"}}',
    ],
    [
      'json-proto',
      'application/json',
      () => '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"__proto__":"a"}}',
    ],
    [
      'json-proto-field',
      'application/json',
      () => '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"__proto__":{"data":{"a":"b"}}}',
    ],
    [
      'json-case',
      'application/json',
      () => '{"apiVersion":"v1","Kind":"ConfigMap","metadata":{"Name":"x"},"Data":{"a":"b"}}',
    ],
    ['json-trailing-comma', 'application/json', () => '{"apiVersion":"v1",}'],
    ['json-comment', 'application/json', () => '{"apiVersion":"v1" /* */}'],
    ['json-single', 'application/json', () => "{'apiVersion':'v1'}"],
    [
      'json-number-big',
      'application/json',
      () => '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"},"spec":{"replicas":1e400}}',
    ],
    ['json-kind-number', 'application/json', () => '{"apiVersion":"v1","kind":1}'],
    ['json-is-yaml', 'application/json', () => 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n'],
    [
      'yaml-is-json',
      'application/yaml',
      () => '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"yaml-is-json"}}',
    ],
    ['protobuf-is-json', protobuf, () => '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}'],
    ['json-is-protobuf', 'application/json', good],
    ['protobuf-empty', protobuf, () => new Uint8Array(0)],
    ['protobuf-magic', protobuf, () => Uint8Array.of(0x6b, 0x38, 0x73, 0)],
    ['protobuf-cut', protobuf, (names) => good(names).subarray(0, -3)],
    ['protobuf-cut-early', protobuf, (names) => good(names).subarray(0, 20)],
    [
      'protobuf-garbage',
      protobuf,
      () =>
        Uint8Array.of(0x6b, 0x38, 0x73, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
    ],
    ['protobuf-other-kind', protobuf, (names) => encodeProtobuf(fixtureOf('secrets').object(names))],
    [
      'protobuf-wrong-wire',
      protobuf,
      () =>
        Uint8Array.of(
          0x6b,
          0x38,
          0x73,
          0,
          0x0a,
          0x0f,
          0x0a,
          0x02,
          0x76,
          0x31,
          0x12,
          0x09,
          ...Buffer.from('ConfigMap'),
          0x12,
          0x02,
          0x08,
          0x01,
        ),
    ],
  ];
  return makers.map(([name, contentType, make]) => ({
    id: `media/spoiled/${name}`,
    area: 'media',
    steps: (names) => [
      {
        method: 'POST',
        path: `/api/v1/namespaces/${names.ns}/configmaps?dryRun=All`,
        contentType,
        body: make(names),
      },
      {
        method: 'POST',
        path: `/api/v1/namespaces/${names.ns}/configmaps?dryRun=All&fieldValidation=Strict`,
        contentType,
        body: make(names),
      },
      {
        method: 'PUT',
        path: `/api/v1/namespaces/${names.ns}/configmaps/x?dryRun=All`,
        contentType,
        body: make(names),
      },
      {
        method: 'DELETE',
        path: `/api/v1/namespaces/${names.ns}/configmaps/x?dryRun=All`,
        contentType,
        body: make(names),
      },
    ],
  }));
}
