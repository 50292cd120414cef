import { describe, expect, it } from 'vitest';
import { decodeJson } from '../../../../kube/json.ts';
import type { JsonObject } from '../../../../kube/object.ts';
import { decodeStruct } from '../../../../kube/schema/strict.ts';

const deployment = { group: 'apps', version: 'v1', kind: 'Deployment' };

const decoded = (spec: string, converted: boolean) => {
  const { value } = decodeJson(Buffer.from(`{"spec":${spec}}`));
  const { value: taken, error } = decodeStruct(value as JsonObject, deployment, undefined, converted);
  return error ?? taken['spec'];
};

/** What kube-apiserver 1.36.3 on amd64 makes of these in a strategic merge patch and in an apply. */
const int32: [string, number][] = [
  ['2147483647', 2147483647],
  ['2147483648', -2147483648],
  ['-2147483649', 2147483647],
  ['4294967297', 1],
  ['1e10', 1410065408],
  ['9223372036854775807', -1],
  ['9223372036854775808', 0],
  ['-9223372036854775809', 0],
  ['1e19', 0],
];

describe('integers of what is converted', () => {
  it.each(int32)('%s becomes an int32 of %d', (literal, expected) => {
    expect(decoded(`{"replicas":${literal}}`, true)).toEqual({ replicas: expected });
  });

  it.each(['9223372036854775808', '-9223372036854775809', '1e19'])(
    '%s becomes the least int64',
    (literal) => {
      const spec = (value: unknown) => ({ template: { spec: { terminationGracePeriodSeconds: value } } });
      expect(decoded(JSON.stringify(spec('N')).replace('"N"', literal), true)).toEqual(spec(-(2n ** 63n)));
    },
  );

  it('are so in lists and maps, beside what stays', () => {
    const spec = (port: unknown) => ({
      template: { spec: { containers: [{ name: 'c', ports: [{ containerPort: port }] }] } },
    });
    expect(decoded(JSON.stringify(spec(4294967376)), true)).toEqual(spec(80));
  });

  it('are refused where JSON is read', () => {
    const why =
      'json: cannot unmarshal number 4294967297 into Go struct field DeploymentSpec.spec.replicas of type int32';
    expect(decoded('{"replicas":4294967297}', false)).toBe(why);
    expect(decoded('{"replicas":1.5}', true)).toContain('cannot unmarshal number 1.5');
  });

  it('beyond an int64 are told as Go writes a float64', () => {
    expect(decoded('{"replicas":-9223372036854775809}', false)).toContain('number -9223372036854776000 into');
    const grace = '{"template":{"spec":{"terminationGracePeriodSeconds":-9223372036854775809}}}';
    expect(decoded(grace, false)).toContain('number -9223372036854776000 into');
  });
});
