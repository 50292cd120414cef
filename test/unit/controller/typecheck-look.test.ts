import { expect, it } from 'vitest';
import { Client } from '../../../client/client.ts';
import { checked } from '../../../controller/typecheck/look.ts';
import type { Transport } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';

const policy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'p', uid: 'u', generation: 1 },
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] },
        { apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['widgets'] },
      ],
    },
    validations: [{ expression: 'object.spec.nope == 1' }],
  },
};
const unavailable = { kind: 'Status', code: 503, reason: 'ServiceUnavailable', message: 'not now' };
const transport: Transport = async ({ url }) => {
  const [status, value] = url.includes('validatingadmissionpolicies') ? [200, policy] : [503, unavailable];
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(value)),
  };
};

it('what nobody answers is asked for again, not for ever', async () => {
  const check = {
    client: new Client(transport),
    signal: new AbortController().signal,
    logger: silentLogger,
    key: 'p',
    target: { cluster: undefined, name: 'p' },
    cached: () => policy,
  };
  await expect(checked({ ...check, isLastTry: false })).rejects.toThrow('not now');
  const found = await checked({ ...check, isLastTry: true });
  expect(found).toEqual({ of: policy, warnings: [] });
});
