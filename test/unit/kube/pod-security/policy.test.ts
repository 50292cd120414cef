import { expect, test } from 'vitest';
import { podSecurityOf, standardName } from '../../../../kube/pod-security/policy.ts';

const prefix = 'pod-security.kubernetes.io/';

/** Labels without their prefix; what is enforced, recorded and warned of; what is wrong with them. */
test.each<[Record<string, string>, string, string[]]>([
  [{}, 'privileged:latest privileged:latest privileged:latest', []],
  [{ enforce: 'baseline' }, 'baseline:latest privileged:latest baseline:latest', []],
  [
    { enforce: 'restricted', 'enforce-version': 'v1.24' },
    'restricted:v1.24 privileged:latest restricted:v1.24',
    [],
  ],
  [
    { enforce: 'baseline', 'enforce-version': 'v1.24', 'warn-version': 'v1.30' },
    'baseline:v1.24 privileged:latest baseline:v1.30',
    [],
  ],
  [{ enforce: 'baseline', warn: 'privileged' }, 'baseline:latest privileged:latest privileged:latest', []],
  [
    { enforce: 'privileged', warn: 'restricted', audit: 'baseline', 'audit-version': 'v1.0' },
    'privileged:latest baseline:v1.0 restricted:latest',
    [],
  ],
  [{ enforce: 'x' }, 'restricted:latest privileged:latest privileged:latest', ['enforce']],
  [{ audit: 'x', warn: '' }, 'privileged:latest privileged:latest privileged:latest', ['audit', 'warn']],
  [
    { enforce: 'baseline', 'enforce-version': 'v1.024', 'audit-version': '1.2', 'warn-version': 'v2.0' },
    'baseline:latest privileged:latest baseline:latest',
    ['enforce-version', 'audit-version', 'warn-version'],
  ],
])('%j', (short, standards, wrong) => {
  const labels = Object.fromEntries(Object.entries(short).map(([key, value]) => [`${prefix}${key}`, value]));
  const { policy, causes } = podSecurityOf(labels);
  const { enforce, audit, warn } = policy;
  expect([enforce, audit, warn].map(standardName).join(' ')).toBe(standards);
  expect(causes.map(({ field }) => field)).toEqual(wrong.map((key) => `metadata.labels[${prefix}${key}]`));
});
