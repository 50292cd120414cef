import type { KubeObject } from '../kube/object.ts';
import { at, isRecord, listAt, textAt } from '../kube/untyped.ts';
import { digest } from './digest.ts';
import type { InClusterConfig } from './types.ts';

type Spec = Record<string, unknown>;

/**
 * How pods of a logical cluster reach it from where they run, in place of the cluster that runs them: as client-go's
 * InClusterConfig reads it, by two variables and the files of a volume.
 * https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
 */
export interface PodAccess {
  host: string;
  port: string;
  /** Of whom the pods get a token. */
  account: string;
  /** Empty while there is no such account. */
  uid: string;
  /** Stands for who vouches for the server; empty: its own authority. */
  authority: string;
  /** The Secret there with its `token`, `ca.crt` and `namespace`. */
  secret: string;
  /** Whether they get one that have not asked for it by a volume of their own. */
  mounts: boolean;
}

const directory = '/var/run/secrets/kubernetes.io/serviceaccount';
/** As the volume that a cluster adds by itself is called: who tells what runs passes over both. */
export const accessVolume = 'kube-api-access-atoll';
const rootCa = 'kube-root-ca.crt';
const secretPrefix = 'atoll-token-';
const variables = ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT', 'KUBERNETES_SERVICE_PORT_HTTPS'];
const lists = ['initContainers', 'containers'] as const;
const mostName = 253;

/** The ServiceAccount of pods of this spec. */
export function accountOf(spec: unknown): string {
  return textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount') || 'default';
}

/** `account`: the ServiceAccount, where it is there. What a pod says of its token counts more than what that says. */
export function accessOf(config: InClusterConfig, spec: unknown, account: KubeObject | undefined): PodAccess {
  const { hostname, port } = new URL(config.server);
  const name = accountOf(spec);
  const said = at(spec, 'automountServiceAccountToken') ?? at(account, 'automountServiceAccountToken');
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port || '443',
    account: name,
    uid: account?.metadata.uid ?? '',
    authority: config.certificateAuthorityData ? digest(config.certificateAuthorityData, 16) : '',
    secret: secretOf(name),
    mounts: said !== false,
  };
}

/** One account has one in each namespace there. */
export function secretOf(account: string): string {
  const name = `${secretPrefix}${account}`;
  return name.length > mostName ? `${secretPrefix}${digest(account, 16)}` : name;
}

/** Whether pods of this spec need that Secret. */
export function usesSecret(spec: unknown, { secret }: Pick<PodAccess, 'secret'>): boolean {
  return listAt(spec, 'volumes').some((volume) =>
    listAt(volume, 'projected', 'sources').some((source) => textAt(source, 'secret', 'name') === secret),
  );
}

/** A pod's spec with that way to its logical cluster. What says itself where the API is, or what is in that directory, keeps it. */
export function withAccess(spec: Spec, access: PodAccess): Spec {
  // Copied from a pod that has been shown, maybe.
  const given = listAt(spec, 'volumes').filter(isOther);
  const volumes = given.map((volume) => ofLogical(volume, access));
  const asks = volumes.some((volume, i) => volume !== given[i]);
  const wants = access.mounts && lists.some((list) => listAt(spec, list).some(lacksFiles));
  if (!asks && !wants) return spec;
  const changed: Spec = { ...spec, volumes: wants ? [...volumes, tokenVolume(access)] : volumes };
  for (const list of lists) {
    if (Array.isArray(spec[list]))
      changed[list] = spec[list].map((container) => reaching(container, access, wants));
  }
  return changed;
}

function reaching(container: unknown, { host, port }: PodAccess, mounts: boolean): unknown {
  if (!isRecord(container)) return container;
  const env = listAt(container, 'env');
  const isSaid = env.some((one) => variables.includes(textAt(one, 'name') ?? ''));
  const values = [host, port, port];
  const ours = variables.map((name, i) => ({ name, value: values[i] }));
  const given = listAt(container, 'volumeMounts').filter(isOther);
  return {
    ...container,
    // What comes after may speak of them.
    ...(!isSaid && { env: [...ours, ...env] }),
    ...(mounts &&
      lacksFiles(container) && {
        volumeMounts: [...given, { name: accessVolume, mountPath: directory, readOnly: true }],
      }),
  };
}

const isOther = (one: unknown) => at(one, 'name') !== accessVolume;

/** How many of the first are those that `reaching` has put there. */
function oursIn(env: readonly unknown[]): number {
  return variables.every((name, i) => textAt(env[i], 'name') === name) ? variables.length : 0;
}

function lacksFiles(container: unknown): boolean {
  return !listAt(container, 'volumeMounts').some(
    (mount) => isOther(mount) && at(mount, 'mountPath') === directory,
  );
}

function tokenVolume({ secret }: PodAccess): Spec {
  return { name: accessVolume, projected: { defaultMode: 0o644, sources: [{ secret: { name: secret } }] } };
}

/** A volume of a user's own with a token for the API, or with the certificate of who serves it. Tokens for others are not ours to give. */
function ofLogical(volume: unknown, { secret: name }: PodAccess): unknown {
  const sources = listAt(volume, 'projected', 'sources');
  const found = sources.map((source) => {
    const token = at(source, 'serviceAccountToken');
    if (isRecord(token) && !token['audience'])
      return { secret: { name, items: [{ key: 'token', path: textAt(token, 'path') ?? 'token' }] } };
    const map = at(source, 'configMap');
    if (!isRecord(map) || map['name'] !== rootCa) return source;
    return { secret: { ...map, name, ...(!map['items'] && { items: [{ key: 'ca.crt', path: 'ca.crt' }] }) } };
  });
  if (found.every((source, i) => source === sources[i]) || !isRecord(volume)) return volume;
  return { ...volume, projected: { ...(volume['projected'] as Spec), sources: found } };
}

/** The spec of pods with the way that those have which are there, or none: some kinds are never changed once they are made. */
export function withAccessOf(spec: Spec, there: unknown): Spec {
  const named = (list: unknown[], one: unknown) =>
    list.find((other) => at(other, 'name') === at(one, 'name'));
  const volumesThere = listAt(there, 'volumes');
  const volumes = listAt(spec, 'volumes').flatMap((volume) => {
    if (!isOther(volume)) return [];
    const found = named(volumesThere, volume);
    return at(volume, 'projected') && at(found, 'projected') ? [found] : [volume];
  });
  const changed: Spec = {
    ...spec,
    volumes: [...volumes, ...volumesThere.filter((volume) => !isOther(volume))],
  };
  for (const list of lists) {
    if (!Array.isArray(spec[list])) continue;
    changed[list] = spec[list].map((container) => {
      if (!isRecord(container)) return container;
      const found = named(listAt(there, list), container);
      const [env, envThere] = [listAt(container, 'env'), listAt(found, 'env')];
      const mountsThere = listAt(found, 'volumeMounts').filter((mount) => !isOther(mount));
      return {
        ...container,
        env: [...envThere.slice(0, oursIn(envThere)), ...env.slice(oursIn(env))],
        volumeMounts: [...listAt(container, 'volumeMounts').filter(isOther), ...mountsThere],
      };
    });
  }
  return changed;
}

/** Of a pod template what says nothing of that way, to be compared: each cluster has another. */
export function withoutAccess(template: Spec): Spec {
  const { spec } = template;
  if (!isRecord(spec)) return template;
  const isFree = (source: unknown) =>
    !(isRecord(at(source, 'serviceAccountToken')) && !at(source, 'serviceAccountToken', 'audience')) &&
    textAt(source, 'configMap', 'name') !== rootCa &&
    !textAt(source, 'secret', 'name')?.startsWith(secretPrefix);
  const changed: Spec = { ...spec };
  if (Array.isArray(spec['volumes']))
    changed['volumes'] = spec['volumes'].filter(isOther).map((volume) => {
      const projected = at(volume, 'projected');
      if (!isRecord(volume) || !isRecord(projected)) return volume;
      return { ...volume, projected: { ...projected, sources: listAt(projected, 'sources').filter(isFree) } };
    });
  for (const list of lists) {
    if (!Array.isArray(spec[list])) continue;
    changed[list] = spec[list].map((container) => {
      if (!isRecord(container)) return container;
      const { env, volumeMounts } = container;
      return {
        ...container,
        ...(Array.isArray(env) && { env: env.slice(oursIn(env)) }),
        ...(Array.isArray(volumeMounts) && { volumeMounts: volumeMounts.filter(isOther) }),
      };
    });
  }
  return { ...template, spec: changed };
}
