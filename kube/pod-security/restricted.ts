import type { JsonObject } from '../object.ts';
import { records, strings } from '../untyped.ts';
import {
  type Check,
  containersNamed,
  containersOf,
  containersThat,
  nameOf,
  plural,
  quoted,
  securityAt,
  setters,
  sortedSet,
} from './pod.ts';

/* The checks of https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted, in kube-apiserver's words. */

export const allowPrivilegeEscalation: Check = (pod) => {
  const bad = containersThat(pod, (one) => securityAt(one, 'allowPrivilegeEscalation') !== false);
  if (bad.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersNamed(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

export const fewCapabilities: Check = (pod) => {
  const extraOf = (one: JsonObject) =>
    strings(securityAt(one, 'capabilities', 'add')).filter((name) => name !== 'NET_BIND_SERVICE');
  const keep = containersThat(
    pod,
    (one) => !strings(securityAt(one, 'capabilities', 'drop')).includes('ALL'),
  );
  const add = containersThat(pod, (one) => extraOf(one).length > 0);
  const extra = sortedSet(containersOf(pod).flatMap(extraOf));
  const details = [
    ...(keep.length > 0
      ? [`${containersNamed(keep)} must set securityContext.capabilities.drop=["ALL"]`]
      : []),
    ...(add.length > 0
      ? [`${containersNamed(add)} must not include ${quoted(extra)} in securityContext.capabilities.add`]
      : []),
  ];
  return details.length === 0
    ? undefined
    : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

const volumeKinds =
  'configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret'.split(' ');
/** Of one that has several, the first here names it. */
const otherKinds =
  'hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder cephfs flocker fc azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos'.split(
    ' ',
  );

export const volumes: Check = ({ spec }) => {
  const has = (volume: JsonObject) => (kind: string) => volume[kind] != null;
  const bad = records(spec['volumes']).filter((volume) => !volumeKinds.some(has(volume)));
  if (bad.length === 0) return undefined;
  const kinds = sortedSet(bad.map((volume) => otherKinds.find(has(volume)) ?? 'unknown'));
  const use = `${plural('uses', 'use', bad)} ${plural('restricted volume type', 'restricted volume types', kinds)}`;
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', 'volumes', bad)} ${quoted(bad.map(nameOf))} ${use} ${quoted(kinds)}`,
  };
};

export const runAsNonRoot: Check = (pod) => {
  const reason = 'runAsNonRoot != true';
  const said = (of: JsonObject) => securityAt(of, 'runAsNonRoot') ?? undefined;
  const isBad = (of: JsonObject) => said(of) === false;
  const bad = setters(isBad(pod.spec), containersThat(pod, isBad));
  if (bad !== '') return { reason, detail: `${bad} must not set securityContext.runAsNonRoot=false` };
  if (said(pod.spec) === true) return undefined;
  const silent = containersThat(pod, (one) => said(one) === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containersNamed(silent)} must set securityContext.runAsNonRoot=true` };
};

export const runAsUser: Check = (pod) => {
  const isRoot = (of: JsonObject) => securityAt(of, 'runAsUser') === 0;
  const bad = setters(isRoot(pod.spec), containersThat(pod, isRoot));
  return bad === '' ? undefined : { reason: 'runAsUser=0', detail: `${bad} must not set runAsUser=0` };
};
