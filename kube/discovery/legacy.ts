import { createHash } from 'node:crypto';
import { formatApiVersion, type GroupVersion } from '../gvk.ts';
import type { Json, JsonObject } from '../object.ts';
import type { ResourceInfo } from '../schema/resource.ts';
import type { OtherVersion } from './extension.ts';
import { type Group, groupsOf, resourcesOf } from './groups.ts';

/** Unaggregated discovery. https://kubernetes.io/docs/concepts/overview/kubernetes-api/#unaggregated-discovery */

/** GET /api. `serverAddress` is `host:port`. */
export function apiVersions(serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** GET /apis */
export function apiGroupList(
  resources: readonly ResourceInfo[],
  others: readonly OtherVersion[] = [],
): JsonObject {
  const groups = groupsOf(resources, others).filter((group) => group.name !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupEntry) };
}

/** GET /apis/GROUP; undefined when nothing serves the group. */
export function apiGroup(
  resources: readonly ResourceInfo[],
  name: string,
  others: readonly OtherVersion[] = [],
): JsonObject | undefined {
  const group = groupsOf(resources, others).find((g) => g.name === name && name !== '');
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group) };
}

function groupEntry(group: Group): JsonObject {
  const versions = group.versions.map((version) => ({ groupVersion: `${group.name}/${version}`, version }));
  return { name: group.name, versions, preferredVersion: versions[0] ?? null };
}

/** GET /apis/GROUP/VERSION and /api/v1; undefined when nothing serves the version. */
export function apiResourceList(
  resources: readonly ResourceInfo[],
  gv: GroupVersion,
): JsonObject | undefined {
  const served = resourcesOf(resources, gv);
  if (served.length === 0) return undefined;
  const groupVersion = formatApiVersion(gv);
  // The core group's list and the others differ in this one field at kube-apiserver too: `apiVersion` is absent there.
  const head = { kind: 'APIResourceList', ...(gv.group !== '' && { apiVersion: 'v1' }), groupVersion };
  return { ...head, resources: served.flatMap(entries) };
}

function entries(resource: ResourceInfo): Json[] {
  const { group, version, kind, namespaced } = resource;
  const own: JsonObject = {
    name: resource.resource,
    singularName: resource.singular,
    namespaced,
    kind,
    verbs: [...resource.verbs],
    ...(resource.shortNames.length > 0 && { shortNames: [...resource.shortNames] }),
    ...(resource.categories.length > 0 && { categories: [...resource.categories] }),
    ...(resource.verbs.includes('watch') && { storageVersionHash: storageVersionHash(resource) }),
  };
  const subs = resource.subresources.map((sub) => ({
    name: `${resource.resource}/${sub.name}`,
    singularName: '',
    namespaced,
    ...((sub.group !== group || sub.version !== version) && { group: sub.group, version: sub.version }),
    kind: sub.kind,
    verbs: [...sub.verbs],
  }));
  return [own, ...subs];
}

/** What Kubernetes 1.36 keeps in another version than it prefers to serve; Events of both groups are one. */
const storedAs: Readonly<Record<string, string>> = {
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': 'admissionregistration.k8s.io/v1beta1',
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': 'admissionregistration.k8s.io/v1beta1',
  'apiextensions.k8s.io/CustomResourceDefinition': 'apiextensions.k8s.io/v1beta1',
  'events.k8s.io/Event': '/v1',
};

/** Equal for two versions that are stored as one; opaque to clients. */
function storageVersionHash({ group, storageVersion, kind }: ResourceInfo): string {
  const stored = storedAs[`${group}/${kind}`] ?? `${group}/${storageVersion}`;
  const digest = createHash('sha256').update(`${stored}/${kind}`).digest();
  return digest.subarray(0, 8).toString('base64');
}
