import type { JsonObject } from '../../object.ts';
import { at, isRecord, record, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { localDescendingPath } from '../rules.ts';
import { tolerations } from './affinity.ts';
import { eachContainer } from './platform.ts';

const mirror = 'kubernetes.io/config.mirror';
const tolerationsKey = 'scheduler.alpha.kubernetes.io/tolerations';
const deletionCost = 'controller.kubernetes.io/pod-deletion-cost';
const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod';
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/';
const appArmor = 'container.apparmor.security.beta.kubernetes.io/';

function isInt32(value: string): boolean {
  if (!/^(0|-\d+|[1-9]\d*)$/.test(value)) return false;
  const number = Number(value);
  return number >= -(2 ** 31) && number < 2 ** 31;
}

function seccomp(profile: string, field: Field): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return;
  if (profile.startsWith('localhost/')) localDescendingPath(profile.slice('localhost/'.length), field);
  else field.invalid(profile, 'must be a valid seccomp profile');
}

function oldTolerations(value: string, field: Field): void {
  try {
    tolerations(JSON.parse(value), field.child(tolerationsKey));
  } catch {
    field.invalid(tolerationsKey, 'invalid character in tolerations');
  }
}

function hasContainer(spec: JsonObject, field: Field, name: string): boolean {
  let found = false;
  eachContainer(spec, field, (container) => {
    found ||= container['name'] === name;
  });
  return found;
}

/** Annotations that mean something for a pod, `field` where they are. */
export function podAnnotations(value: unknown, spec: JsonObject, field: Field): void {
  const annotations = record(value);
  for (const key of Object.keys(annotations)) {
    const annotation = text(annotations[key]);
    if (key === mirror && !text(spec['nodeName'])) {
      field.key(key).invalid(annotation, 'must set spec.nodeName if mirror pod annotation is set');
    } else if (key === tolerationsKey && annotation) oldTolerations(annotation, field);
    else if (key === deletionCost && !isInt32(annotation)) {
      field.key(key).invalid(annotation, 'must be a 32bit integer');
    } else if (key === seccompPod || key.startsWith(seccompContainer)) seccomp(annotation, field.child(key));
    else if (key.startsWith(appArmor)) {
      const name = key.slice(appArmor.length);
      if (!hasContainer(spec, field, name)) field.key(key).invalid(name, 'container not found');
      const known = ['', 'runtime/default', 'unconfined'].includes(annotation);
      if (!known && !annotation.startsWith('localhost/'))
        field.key(key).invalid(annotation, `invalid AppArmor profile name: ${JSON.stringify(annotation)}`);
    }
  }
}

/** Some annotations never change after a pod is made. */
export function podAnnotationChanges(value: unknown, old: unknown, field: Field): void {
  const [now, before] = [record(value), record(old)];
  const told = (key: string) => (key === mirror ? 'mirror pod annotation' : 'AppArmor annotations');
  const special = (key: string) => key === mirror || key.startsWith(appArmor);
  for (const key of Object.keys(before)) {
    const same = Object.hasOwn(now, key) && now[key] === before[key];
    if (special(key) && !same) field.key(key).forbidden(`may not remove or update ${told(key)}`);
  }
  for (const key of Object.keys(now)) {
    if (special(key) && !Object.hasOwn(before, key)) field.key(key).forbidden(`may not add ${told(key)}`);
  }
}

/** What annotations say of a profile, a field may say too, but nothing else. */
function matches(annotation: string, profile: unknown, what: string, field: Field): void {
  const type = at(profile, 'type');
  const differs = `${what === 'AppArmor' ? 'apparmor' : what} type in annotation and field must match`;
  if (type === 'Unconfined' && annotation !== 'unconfined') field.child('type').forbidden(differs);
  if (type === 'RuntimeDefault') {
    const same = annotation === 'runtime/default' || (what === 'seccomp' && annotation === 'docker/default');
    if (!same) field.child('type').forbidden(differs);
  }
  if (type !== 'Localhost') return;
  if (!annotation.startsWith('localhost/')) field.child('type').forbidden(differs);
  else if (at(profile, 'localhostProfile') !== annotation.slice('localhost/'.length)) {
    const name = what === 'AppArmor' ? 'apparmor' : what;
    field.child('localhostProfile').forbidden(`${name} profile in annotation and field must match`);
  }
}

/** Profiles that both annotations and fields name, on create. */
export function profilesMatch(value: unknown, spec: JsonObject, field: Field): void {
  const annotations = record(value);
  const keys = Object.keys(annotations);
  if (!keys.some((key) => key === seccompPod || key.startsWith(seccompContainer) || key.startsWith(appArmor)))
    return;
  const ofPod = record(spec['securityContext']);
  const one = (key: string, profile: unknown, what: string, path: Field) => {
    if (!Object.hasOwn(annotations, key) || !isRecord(profile)) return;
    matches(text(annotations[key]), profile, what, path);
  };
  one(seccompPod, ofPod['seccompProfile'], 'seccomp', field.child('securityContext', 'seccompProfile'));
  eachContainer(spec, field, (container, path) => {
    const name = text(container['name']);
    const own = record(container['securityContext']);
    const inner = path.child('securityContext');
    one(`${seccompContainer}${name}`, own['seccompProfile'], 'seccomp', inner.child('seccompProfile'));
    if (at(spec, 'os', 'name') === 'windows') return;
    const profile = own['appArmorProfile'] ?? ofPod['appArmorProfile'];
    one(`${appArmor}${name}`, profile, 'AppArmor', inner.child('appArmorProfile'));
  });
}
