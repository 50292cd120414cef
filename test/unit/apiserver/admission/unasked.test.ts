import { describe, expect, test } from 'vitest';
import { unaskedPartsAdmission } from '../../../../apiserver/admission/unasked.ts';
import type { AdmissionRequest } from '../../../../apiserver/plugins.ts';

const pods = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] };
const workloads = { ...pods, apiGroups: ['apps'], resources: ['deployments'] };

function warnings(resource: string, object: object): string[] {
  const said: string[] = [];
  const stored = { info: { group: 'admissionregistration.k8s.io', resource } };
  const request = { stored, object, subresource: '', warn: (text: string) => said.push(text) };
  void unaskedPartsAdmission.validate?.(request as unknown as AdmissionRequest);
  return said;
}

const hooks = (...rules: object[]) => ({ webhooks: [{ name: 'first' }, { name: 'hook', rules }] });
const policy = (...resourceRules: object[]) => ({ spec: { matchConstraints: { resourceRules } } });

describe('whoever writes what is to be asked about new pods is told which it is not asked about', () => {
  test.each([
    ['mutatingwebhookconfigurations', hooks(workloads, pods)],
    ['validatingwebhookconfigurations', hooks({ ...pods, apiGroups: ['*'], resources: ['*'] })],
    ['validatingwebhookconfigurations', hooks({ ...pods, resources: ['*/*'], operations: ['*'] })],
    ['validatingadmissionpolicies', policy(pods)],
    ['mutatingadmissionpolicies', policy(pods)],
  ])('%s %j', (resource, object) => {
    expect(warnings(resource, object)).toEqual([expect.stringContaining('the pods that workloads make')]);
  });

  test.each([
    ['mutatingwebhookconfigurations', hooks(workloads)],
    ['mutatingwebhookconfigurations', hooks({ ...pods, operations: ['DELETE', 'UPDATE'] })],
    ['mutatingwebhookconfigurations', hooks({ ...pods, resources: ['pods/exec', 'pods/status'] })],
    ['validatingadmissionpolicies', policy({ ...workloads, resources: ['*'] })],
    ['validatingadmissionpolicybindings', policy()],
    ['mutatingwebhookconfigurations', {}],
  ])('nobody else: %s %j', (resource, object) => {
    expect(warnings(resource, object)).toEqual([]);
  });
});
