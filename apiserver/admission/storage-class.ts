import type { KubeObject } from '../../kube/object.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { isWriteOf, specOf } from './pods.ts';

const isDefault = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];
const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

/**
 * A claim that names no class gets the default one, the newest if there are several; so does an Ingress its class.
 * https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
 */
export const defaultClassAdmission: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  mutate(request) {
    const { object } = request;
    if (!object) return undefined;
    if (isWriteOf(request, '', 'persistentvolumeclaims')) return defaultStorageClass(request, object);
    const ingress = isWriteOf(request, 'networking.k8s.io', 'ingresses');
    return ingress ? defaultIngressClass(request, object) : undefined;
  },
};

async function defaultStorageClass(request: AdmissionRequest, object: KubeObject): Promise<void> {
  const spec = specOf(object);
  const asked = spec['storageClassName'] !== undefined && spec['storageClassName'] !== null;
  if (asked || object.metadata.annotations?.[classAnnotation] !== undefined) return;
  const found = newest(await defaults(request, 'storage.k8s.io', 'storageclasses', isDefault));
  if (found?.metadata.name) spec['storageClassName'] = found.metadata.name;
}

async function defaultIngressClass(request: AdmissionRequest, object: KubeObject): Promise<void> {
  const spec = specOf(object);
  if (spec['ingressClassName'] || object.metadata.annotations?.['kubernetes.io/ingress.class']) return;
  const annotation = ['ingressclass.kubernetes.io/is-default-class'];
  const found = newest(await defaults(request, 'networking.k8s.io', 'ingressclasses', annotation));
  if (found?.metadata.name) spec['ingressClassName'] = found.metadata.name;
}

async function defaults(
  { registry, cluster }: AdmissionRequest,
  group: string,
  resource: string,
  annotations: readonly string[],
): Promise<KubeObject[]> {
  const items = await registry.recent({ cluster, group, resource });
  return items.filter((one) => annotations.some((name) => one.metadata.annotations?.[name] === 'true'));
}

function newest(classes: readonly KubeObject[]): KubeObject | undefined {
  const time = ({ metadata }: KubeObject) => String(metadata.creationTimestamp ?? '');
  const name = ({ metadata }: KubeObject) => metadata.name ?? '';
  return [...classes].sort((a, b) =>
    time(a) === time(b) ? (name(a) < name(b) ? -1 : 1) : time(a) < time(b) ? 1 : -1,
  )[0];
}
