import type { JsonObject } from '../../object.ts';
import { at, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { isSet, localDescendingPath, noBacksteps } from '../rules.ts';

const propagations = ['Bidirectional', 'HostToContainer', 'None'];

/** Where a container mounts the pod's volumes. */
export function volumeMounts(
  container: JsonObject,
  volumes: ReadonlyMap<string, JsonObject>,
  field: Field,
): void {
  const devices = records(container['volumeDevices']);
  const seen = new Set<string>();
  for (const [index, mount] of records(container['volumeMounts']).entries()) {
    const path = field.index(index);
    const name = text(mount['name']);
    const target = text(mount['mountPath']);
    if (!name) path.child('name').required();
    if (!volumes.has(name)) path.child('name').notFound(name);
    if (!target) path.child('mountPath').required();
    if (seen.has(target)) path.child('mountPath').invalid(target, 'must be unique');
    seen.add(target);
    if (devices.some((device) => device['name'] === name)) {
      path.child('name').invalid(name, 'must not already exist in volumeDevices');
    }
    if (devices.some((device) => device['devicePath'] === target)) {
      path.child('mountPath').invalid(target, 'must not already exist as a path in volumeDevices');
    }
    subPath(mount, path, field);
    propagation(mount, container, field.child('mountPropagation'));
    recursiveReadOnly(mount, field.child('recursiveReadOnly'));
  }
}

function subPath(mount: JsonObject, path: Field, field: Field): void {
  const plain = text(mount['subPath']);
  const expression = text(mount['subPathExpr']);
  if (plain) localDescendingPath(plain, field.child('subPath'));
  if (!expression) return;
  if (plain) path.child('subPathExpr').invalid(expression, 'subPathExpr and subPath are mutually exclusive');
  localDescendingPath(expression, field.child('subPathExpr'));
}

function propagation(mount: JsonObject, container: JsonObject, field: Field): void {
  const mode = mount['mountPropagation'];
  if (mode === undefined) return;
  if (!propagations.includes(text(mode))) field.notSupported(mode, propagations);
  if (mode === 'Bidirectional' && at(container, 'securityContext', 'privileged') !== true) {
    field.forbidden('Bidirectional mount propagation is available only to privileged containers');
  }
}

const recursiveModes = ['Disabled', 'Enabled', 'IfPossible'];

function recursiveReadOnly(mount: JsonObject, field: Field): void {
  const mode = mount['recursiveReadOnly'];
  if (mode === undefined || mode === 'Disabled') return;
  if (!recursiveModes.includes(text(mode))) {
    field.notSupported(mode, recursiveModes);
    return;
  }
  if (mount['readOnly'] !== true) field.forbidden('may only be specified when readOnly is true');
  if (mount['mountPropagation'] !== undefined && mount['mountPropagation'] !== 'None')
    field.forbidden('may only be specified when mountPropagation is None or not specified');
}

export function volumeDevices(
  container: JsonObject,
  volumes: ReadonlyMap<string, JsonObject>,
  field: Field,
): void {
  const mounts = records(container['volumeMounts']);
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, device] of records(container['volumeDevices']).entries()) {
    const path = field.index(index);
    const name = text(device['name']);
    const target = text(device['devicePath']);
    const volume = volumes.get(name);
    if (!name) path.child('name').required();
    if (names.has(name)) path.child('name').invalid(name, 'must be unique');
    if (!volume) path.child('name').notFound(name);
    else if (!isSet(volume, 'persistentVolumeClaim') && !isSet(volume, 'ephemeral')) {
      const rule = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      path.child('name').invalid(name, rule);
    }
    if (!target) path.child('devicePath').required();
    if (paths.has(target)) path.child('devicePath').invalid(target, 'must be unique');
    noBacksteps(target, path.child('devicePath'));
    if (mounts.some((mount) => mount['name'] === name)) {
      path.child('name').invalid(name, 'must not already exist in volumeMounts');
    }
    if (mounts.some((mount) => mount['mountPath'] === target)) {
      path.child('devicePath').invalid(target, 'must not already exist as a path in volumeMounts');
    }
    names.add(name);
    paths.add(target);
  }
}
