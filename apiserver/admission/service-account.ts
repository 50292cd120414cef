import { generateName } from '../../kube/names.ts';
import type { Json, KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { at, isRecord, listAt } from '../../kube/untyped.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { isWriteOf, refusal, specOf } from './pods.ts';

const fallback = 'default';

/**
 * A Pod runs as `default` unless it names another ServiceAccount, which must exist; it gets that one's pull secrets and
 * a volume with its token. Where the Pod really runs these give way to the physical cluster's own.
 * https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/
 */
export const serviceAccountAdmission: AdmissionPlugin = {
  name: 'ServiceAccount',
  mutate(request) {
    const { object } = request;
    return object && isWriteOf(request, '', 'pods') ? complete(request, specOf(object)) : undefined;
  },
  validate(request) {
    if (!isWriteOf(request, '', 'pods') || !request.object) return undefined;
    const name = String(specOf(request.object)['serviceAccountName'] ?? fallback);
    // A namespace's own is made in a moment, if it is not there yet.
    return name === fallback ? undefined : accountOf(request, name).then(() => undefined);
  },
};

type Spec = Record<string, unknown>;

async function complete(request: AdmissionRequest, spec: Spec): Promise<void> {
  if (!spec['serviceAccountName']) spec['serviceAccountName'] = spec['serviceAccount'] || fallback;
  spec['serviceAccount'] = spec['serviceAccountName'];
  const account = await accountOf(request, String(spec['serviceAccountName']));
  // The Pod's own wish counts before its account's.
  const wanted = spec['automountServiceAccountToken'] ?? account?.['automountServiceAccountToken'];
  if (wanted !== false) mountToken(spec);
  const pulling = account?.['imagePullSecrets'];
  if (listAt(spec, 'imagePullSecrets').length === 0 && Array.isArray(pulling))
    spec['imagePullSecrets'] = pulling.map((secret) => ({ name: at(secret, 'name') }));
}

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';

/** Into every container that has nothing of its own there. */
function mountToken(spec: Spec): void {
  const volumes = listAt(spec, 'volumes');
  const present = volumes.map((volume) => at(volume, 'name')).find(isTokenVolume);
  const name = present ?? generateName(volumePrefix);
  let isNeeded = false;
  for (const container of ['initContainers', 'containers'].flatMap((list) => listAt(spec, list))) {
    const mounts = listAt(container, 'volumeMounts') as Json[];
    if (!isRecord(container) || mounts.some((mount) => at(mount, 'mountPath') === mountPath)) continue;
    container['volumeMounts'] = [...mounts, { name: name as Json, readOnly: true, mountPath }];
    isNeeded = true;
  }
  if (isNeeded && present === undefined)
    spec['volumes'] = [...volumes, { name, projected: { sources: sources(), defaultMode: 0o644 } }];
}

const isTokenVolume = (name: unknown): boolean => typeof name === 'string' && name.startsWith(volumePrefix);

function sources(): object[] {
  const namespace = { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } };
  return [
    // An hour, and time to notice: what kubelets renew.
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [namespace] } },
  ];
}

/** Undefined: the namespace's own, which is made in a moment. */
async function accountOf(request: AdmissionRequest, name: string): Promise<KubeObject | undefined> {
  const { cluster, namespace, registry } = request;
  try {
    return await registry.get({ cluster, group: '', resource: 'serviceaccounts', namespace, name });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
    if (name === fallback) return undefined;
    throw refusal(request, `error looking up service account ${namespace}/${name}: ${whyNotFound(name)}`);
  }
}

/** A name that fits in no path is refused by Kubernetes' client before anybody is asked. */
function whyNotFound(name: string): string {
  const illegal = ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
  if (illegal.length === 0) return `serviceaccount ${JSON.stringify(name)} not found`;
  return `invalid resource name ${JSON.stringify(name)}: [${illegal.join(' ')}]`;
}
