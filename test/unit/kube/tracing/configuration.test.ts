import { describe, expect, test } from 'vitest';
import { readConfiguration } from '../../../../kube/tracing/configuration.ts';

const head = 'kind: TracingConfiguration\napiVersion: apiserver.config.k8s.io/v1\n';
const read = 'failed to read tracing config: unable to decode tracing configuration data: ';
const invalid = 'failed to validate tracing configuration: ';
const field = 'Go struct field TracingConfiguration.TracingConfiguration';

describe('what is configured', () => {
  test.each([
    ['', { endpoint: 'localhost:4317', samplingRatePerMillion: 0 }],
    [head, { endpoint: 'localhost:4317', samplingRatePerMillion: 0 }],
    [head.replace('v1', 'v1alpha1'), { endpoint: 'localhost:4317', samplingRatePerMillion: 0 }],
    [
      `${head.replace('v1', 'v1beta1')}endpoint: otel:4317\nsamplingRatePerMillion: 100`,
      { endpoint: 'otel:4317', samplingRatePerMillion: 100 },
    ],
    [
      `${head}endpoint: unix:///run/otel.sock\nsamplingRatePerMillion: 1000000`,
      { endpoint: 'unix:///run/otel.sock', samplingRatePerMillion: 1_000_000 },
    ],
    [`${head}endpoint: unix:/run/otel.sock`, { endpoint: 'unix:/run/otel.sock', samplingRatePerMillion: 0 }],
    [`${head}endpoint: '[::1]:4317'`, { endpoint: '[::1]:4317', samplingRatePerMillion: 0 }],
    [`${head}endpoint: dns:///otel:4317`, { endpoint: 'dns:///otel:4317', samplingRatePerMillion: 0 }],
    [`${head}endpoint:\nsamplingRatePerMillion:`, { endpoint: 'localhost:4317', samplingRatePerMillion: 0 }],
  ])('%j', (source, expected) => {
    expect(readConfiguration(source)).toEqual(expected);
  });
});

describe('what kube-apiserver 1.36.3 refuses, in its words', () => {
  test.each([
    [
      `${head}samplingRatePerMillion: -1\nendpoint: http://x:1`,
      `${invalid}[samplingRatePerMillion: Invalid value: -1: sampling rate must be positive, endpoint: Invalid value: "http://x:1": unsupported scheme: http.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md]`,
    ],
    [
      `${head}samplingRatePerMillion: 1000001`,
      `${invalid}samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million`,
    ],
    [
      `${head}samplingRatePerMillion: 1.5`,
      `${read}json: cannot unmarshal number 1.5 into ${field}.samplingRatePerMillion of type int32`,
    ],
    [
      `${head}samplingRatePerMillion: '10'`,
      `${read}json: cannot unmarshal string into ${field}.samplingRatePerMillion of type int32`,
    ],
    [`${head}endpoint: 10`, `${read}json: cannot unmarshal number into ${field}.endpoint of type string`],
    ...[
      ['localhost:abc', 'dns://localhost:abc', 'invalid port ":abc" after host'],
      ['a b:1', 'dns://a b:1', 'invalid character " " in host name'],
      ['[::1:1', 'dns://[::1:1', "missing ']' in host"],
      ['://x', '://x', 'missing protocol scheme'],
      ['a%zz:1', 'dns://a%zz:1', 'invalid URL escape "%zz"'],
    ].map(([given, shown, why]) => [
      `${head}endpoint: '${given}'`,
      `${invalid}endpoint: Invalid value: "${shown}": parse "${shown}": ${why}`,
    ]),
    [
      `${head}endpiont: x\nother: 1`,
      `${read}strict decoding error: unknown field "endpiont", unknown field "other"`,
    ],
    [
      'kind: TracingConfiguration\napiVersion: apiserver.config.k8s.io/v1alpha2',
      `${read}no kind "TracingConfiguration" is registered for version "apiserver.config.k8s.io/v1alpha2" in scheme "pkg/runtime/scheme.go:111"`,
    ],
  ])('%j', (source, message) => {
    expect(() => readConfiguration(source)).toThrow(new Error(message));
  });
});

describe('what it refuses in other words, and we do', () => {
  test.each([
    ['a', `${read}expected TracingConfiguration`],
    ['kind: Foo\napiVersion: apiserver.config.k8s.io/v1', `${read}expected TracingConfiguration`],
    [
      `${head}endpoint: a:1\nendpoint: b:1`,
      `${read}strict decoding error: line 4: key "endpoint" already set in map`,
    ],
    ['a: [', read],
    [`${head}endpoint: unix-abstract://a`, 'name a socket by unix:///PATH, or host:port'],
  ])('%j', (source, message) => {
    expect(() => readConfiguration(source)).toThrow(message);
  });
});
