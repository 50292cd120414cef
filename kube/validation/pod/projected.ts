import type { JsonObject } from '../../object.ts';
import { int, isRecord, record, records, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { fileMode, isSet, localNonReservedPath } from '../rules.ts';
import { resourceReference, volumeFieldReference } from './env.ts';
import { need } from './volume-sources.ts';

/** One of a Secret's or ConfigMap's keys and the file that it becomes. */
export function keyToPath(item: JsonObject, field: Field): void {
  need('key', 'path')(item, field);
  localNonReservedPath(text(item['path']), field.child('path'));
  fileMode(item['mode'], field.child('mode'));
}

function downwardItem(item: JsonObject, field: Field): void {
  need('path')(item, field);
  localNonReservedPath(text(item['path']), field.child('path'));
  const byField = item['fieldRef'];
  const byResource = item['resourceFieldRef'];
  if (isRecord(byField)) {
    volumeFieldReference(byField, field.child('fieldRef'));
    if (isRecord(byResource))
      field.invalid('resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (isRecord(byResource)) resourceReference(byResource, field.child('resourceFieldRef'), true);
  else field.required('one of fieldRef and resourceFieldRef is required');
  fileMode(item['mode'], field.child('mode'));
}

export function downward(source: JsonObject, field: Field): void {
  fileMode(source['defaultMode'], field.child('defaultMode'));
  for (const item of records(source['items'])) downwardItem(item, field);
}

const leastSeconds = 600;
const mostSeconds = 2 ** 32;

/** Its path is reported at the projected volume itself. */
function token(source: JsonObject, field: Field, volume: Field): void {
  const seconds = int(source['expirationSeconds']);
  const path = field.child('expirationSeconds');
  if (seconds < leastSeconds) path.invalid(seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > mostSeconds) path.invalid(seconds, 'may not specify a duration larger than 2^32 seconds');
  if (!text(source['path'])) volume.child('path').required();
  else localNonReservedPath(text(source['path']), volume.child('path'));
}

/** https://kubernetes.io/docs/concepts/storage/projected-volumes/ */
export function projected(source: JsonObject, field: Field): void {
  fileMode(source['defaultMode'], field.child('defaultMode'));
  const taken = new Set<string>();
  const take = (path: string, name: string) => {
    if (path && taken.has(path)) field.invalid(name, 'conflicting duplicate paths');
    taken.add(path);
  };
  for (const [index, one] of records(source['sources']).entries()) {
    const path = field.child('sources').index(index);
    for (const kind of ['secret', 'configMap']) {
      if (!isSet(one, kind)) continue;
      const from = record(one[kind]);
      need('name')(from, path.child(kind));
      for (const [i, item] of records(from['items']).entries()) {
        keyToPath(item, path.child(kind, 'items').index(i));
        take(text(item['path']), text(from['name']));
      }
    }
    if (isSet(one, 'downwardAPI')) {
      for (const item of records(record(one['downwardAPI'])['items'])) {
        downwardItem(item, path.child('downwardAPI'));
        take(text(item['path']), text(item['path']));
      }
    }
    if (isSet(one, 'serviceAccountToken'))
      token(record(one['serviceAccountToken']), path.child('serviceAccountToken'), field);
    const kinds = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken'];
    if (kinds.filter((kind) => isSet(one, kind)).length > 1)
      path.forbidden('may not specify more than 1 volume type per source');
  }
}
