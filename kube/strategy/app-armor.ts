import { child } from '../defaults/fill.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { at, isRecord, records, text } from '../untyped.ts';

const prefix = 'container.apparmor.security.beta.kubernetes.io/';
const local = 'localhost/';
const longest = 4095;

/**
 * Profiles that only annotations name become fields of the containers, where these have none and the Pod's is another.
 * Warns of each annotation that does, or cannot: https://kubernetes.io/docs/tutorials/security/apparmor/
 */
export function appArmorFields({ metadata, spec }: KubeObject, warn: (message: string) => void): void {
  const { annotations = {} } = metadata;
  if (at(spec, 'os', 'name') === 'windows' || !Object.keys(annotations).some((key) => key.startsWith(prefix)))
    return;
  const ofPod = at(spec, 'securityContext', 'appArmorProfile');
  for (const kind of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of records(at(spec, kind))) {
      const key = `${prefix}${text(container['name'])}`;
      if (!Object.hasOwn(annotations, key) || isRecord(at(container, 'securityContext', 'appArmorProfile')))
        continue;
      const profile = profileOf(text(annotations[key]));
      if (profile && isSame(profile, ofPod)) continue;
      if (profile) child(container, 'securityContext')['appArmorProfile'] = profile;
      warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
    }
  }
}

/** Undefined where no valid field says the same. */
function profileOf(annotation: string): JsonObject | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  const name = annotation.startsWith(local) ? annotation.slice(local.length) : '';
  if (name === '' || name.trim() !== name || Buffer.byteLength(name) > longest) return undefined;
  return { type: 'Localhost', localhostProfile: name };
}

function isSame(a: JsonObject, b: unknown): boolean {
  return a['type'] === at(b, 'type') && a['localhostProfile'] === at(b, 'localhostProfile');
}
