import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../kube/object.ts';
import { conversionProblem } from '../../../../kube/schema/convert.ts';

const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };
const secret = { group: '', version: 'v1', kind: 'Secret' };
const spec = (fields: object) => ({ spec: fields });
const container = (fields: object) => spec({ template: { spec: { containers: [fields] } } });
const labels = (value: unknown) => ({ metadata: { labels: { a: value } } });

/** Answers of kube-apiserver 1.36.3 to strategic merge patches of a Deployment. */
const refused: [object, string][] = [
  [spec({ replicas: 'x' }), 'unrecognized type: int32'],
  [spec({ replicas: true }), 'unrecognized type: int32'],
  [spec({ replicas: 3.5 }), 'cannot convert float64 to int32'],
  [spec({ paused: 1 }), 'unrecognized type: bool'],
  [spec({ paused: 'x' }), 'unrecognized type: bool'],
  [{ spec: [] }, 'cannot restore struct from: slice'],
  [{ spec: 'x' }, 'cannot restore struct from: string'],
  [{ status: 5 }, 'cannot restore struct from: int64'],
  [{ metadata: { labels: [] } }, 'cannot restore map from slice'],
  [{ metadata: { annotations: 'x' } }, 'cannot restore map from string'],
  [labels(1), 'cannot convert int64 to string'],
  [labels(1.5), 'unrecognized type: string'],
  [labels(true), 'unrecognized type: string'],
  [labels({}), 'unrecognized type: string'],
  [{ metadata: { name: 1 } }, 'cannot convert int64 to string'],
  [{ metadata: { generation: 1.5 } }, 'cannot convert float64 to int64'],
  [{ metadata: { creationTimestamp: 5 } }, 'json: cannot unmarshal number into Go value of type string'],
  [{ metadata: { ownerReferences: [1] } }, 'cannot restore struct from: int64'],
  [{ metadata: { finalizers: { a: 1 } } }, 'cannot restore slice from map'],
  [{ metadata: { managedFields: 'x' } }, 'cannot restore slice from string'],
  [
    spec({ strategy: { rollingUpdate: { maxSurge: true } } }),
    'json: cannot unmarshal bool into Go value of type int32',
  ],
  [
    spec({ strategy: { rollingUpdate: { maxSurge: 1.5 } } }),
    'json: cannot unmarshal number 1.5 into Go value of type int32',
  ],
  [spec({ strategy: { type: 1 } }), 'cannot convert int64 to v1.DeploymentStrategyType'],
  [container({ imagePullPolicy: 1 }), 'cannot convert int64 to v1.PullPolicy'],
  [
    container({ livenessProbe: { httpGet: { port: true } } }),
    'json: cannot unmarshal bool into Go value of type int32',
  ],
  [container({ args: [1] }), 'cannot convert int64 to string'],
  [container({ args: 'x' }), 'cannot restore slice from string'],
  [container({ stdin: 'x' }), 'unrecognized type: bool'],
  [
    container({ resources: { limits: { cpu: 'abc' } } }),
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [{ kind: 1 }, 'cannot convert int64 to string'],
  [{ apiVersion: [] }, 'unrecognized type: string'],
];

describe('conversionProblem', () => {
  it.each(refused)('%j', (object, expected) => {
    expect(conversionProblem(object as JsonObject, deployment)).toBe(expected);
  });

  it('tells the first in the order of the type, not of the text', () => {
    const both = spec({ paused: 'y', replicas: 'x' });
    expect(conversionProblem(both as JsonObject, deployment)).toBe('unrecognized type: int32');
  });

  it.each<[object]>([
    [spec({ replicas: null, paused: true })],
    [spec({ replicas: 3 })],
    [container({ args: [null], ports: [{ containerPort: 80 }] })],
    [{ unknown: { a: [1, 'b'] } }],
  ])('has nothing against %j', (object) => {
    expect(conversionProblem(object as JsonObject, deployment)).toBeUndefined();
  });

  it.each<[unknown, string | undefined]>([
    ['AA==', undefined],
    [1, 'cannot restore slice from int64'],
    ['?', 'error decoding from json: illegal base64 data at input byte 0'],
  ])('bytes of %j', (value, expected) => {
    expect(conversionProblem({ data: { a: value } } as JsonObject, secret)).toBe(expected);
  });

  it('knows nothing of kinds that are not built in', () => {
    const widget = { group: 'example.org', version: 'v1', kind: 'Widget' };
    expect(conversionProblem({ spec: 1 }, widget)).toBeUndefined();
  });
});
