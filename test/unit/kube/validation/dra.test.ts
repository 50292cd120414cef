import { describe, expect, it } from 'vitest';
import { named } from '../kinds.ts';
import { causesOf } from './refused.ts';

const version = 'resource.k8s.io/v1';
const claim = (devices: object) => named(version, 'ResourceClaim', { spec: { devices } });
const exactly = { deviceClassName: 'gpu.example.com' };
const slice = (device: object, rest: object = {}) =>
  named(version, 'ResourceSlice', {
    spec: {
      driver: 'd.example.com',
      nodeName: 'n1',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'gpu-0', ...device }],
      ...rest,
    },
  });
const policy = (value: object) =>
  slice({ allowMultipleAllocations: true, capacity: { memory: { value: '8Gi', requestPolicy: value } } });
const at = 'spec.devices[0]';
const reference =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

describe('resource.k8s.io', () => {
  it.each<[string, ReturnType<typeof claim>, string[]]>([
    [
      'a request of nothing',
      claim({ requests: [{ name: 'gpu' }] }),
      ['spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required'],
    ],
    [
      'a request of both',
      claim({ requests: [{ name: 'gpu', exactly, firstAvailable: [{ name: 'a', ...exactly }] }] }),
      [
        'spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
      ],
    ],
    [
      'a count beside all',
      claim({ requests: [{ name: 'gpu', exactly: { ...exactly, allocationMode: 'All', count: 2 } }] }),
      [
        "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'",
      ],
    ],
    [
      'a selector that does not compile',
      claim({
        requests: [{ name: 'gpu', exactly: { ...exactly, selectors: [{ cel: { expression: 'other' } }] } }],
      }),
      [
        "spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: \"other\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other\n | ^",
      ],
    ],
    [
      'a constraint on another request',
      claim({
        requests: [{ name: 'gpu', exactly }],
        constraints: [{ requests: ['tpu', 'gpu'], matchAttribute: 'model' }],
      }),
      [
        `spec.devices.constraints[0].requests[0]: Invalid value: "tpu": ${reference}`,
        'spec.devices.constraints[0].matchAttribute: Invalid value: "model": a fully qualified name must be a domain and a name separated by a slash',
      ],
    ],
    [
      'an attribute of two values',
      slice({ attributes: { model: { string: 'a', int: 1 } } }),
      [
        `${at}.attributes[model]: Invalid value: {"IntValue":1,"BoolValue":null,"StringValue":"a","VersionValue":null,"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly one value must be specified`,
      ],
    ],
    [
      'a version that is none',
      slice({ attributes: { model: { version: '1.0' } } }),
      [
        `${at}.attributes[model].version: Invalid value: "1.0": must be a string compatible with semver.org spec 2.0.0`,
      ],
    ],
    [
      'a slice for two places',
      slice({}, { allNodes: true }),
      [
        'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
      ],
    ],
    [
      'a device with a node of its own',
      slice({ allNodes: true }),
      [
        `${at}: Invalid value: null: \`nodeName\`, \`nodeSelector\` and \`allNodes\` can only be set if \`perDeviceNodeSelection\` is set to true in the ResourceSlice spec`,
      ],
    ],
    [
      'a default outside of its range',
      policy({ default: '1Gi', validRange: { min: '2Gi', max: '16Gi', step: '3Gi' } }),
      [
        `${at}.capacity[memory].requestPolicy.validRange.min: Invalid value: "1Gi": default is less than min: 2Gi`,
        `${at}.capacity[memory].requestPolicy.validRange.max: Invalid value: "16Gi": max is larger than capacity value: 8Gi`,
        `${at}.capacity[memory].requestPolicy.validRange.step: Invalid value: "1Gi": value is not a multiple of a given step (3Gi) from (2Gi)`,
        `${at}.capacity[memory].requestPolicy.validRange.step: Invalid value: "16Gi": value is not a multiple of a given step (3Gi) from (2Gi)`,
      ],
    ],
    [
      'options that are not sorted',
      policy({ default: '3Gi', validValues: ['2Gi', '1Gi'] }),
      [
        `${at}.capacity[memory].requestPolicy.validValues[1]: Invalid value: "1Gi": values must be sorted in ascending order`,
        `${at}.capacity[memory].requestPolicy.validValues: Invalid value: "3Gi": default value is not valid according to the requestPolicy`,
      ],
    ],
  ])('refuses %s', (_what, object, expected) => {
    expect(causesOf(object)).toEqual(expected);
  });

  it('keeps a claim as it is', () => {
    const before = claim({ requests: [{ name: 'gpu', exactly }] });
    expect(causesOf(before, before)).toEqual([]);
    const [cause] = causesOf(claim({ requests: [{ name: 'tpu', exactly }] }), before);
    expect(cause).toMatch(/^spec: Invalid value: .*: field is immutable$/);
  });
});
