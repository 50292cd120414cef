import { sameJson } from '../deep.ts';
import { validateQualifiedName } from '../names.ts';
import type { Json, JsonObject } from '../object.ts';
import { at, int, isRecord, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { internal } from './internal.ts';
import type { KindCheck, KindChecks, Subject } from './kind.ts';
import { dns1123Subdomain, immutable } from './rules.ts';

const isTime = (value: unknown) => text(value) !== '' && !text(value).startsWith('0001-01-01T00:00:00');

function limited(event: JsonObject, name: string, most: number, field: Field): void {
  if (Buffer.byteLength(text(event[name])) > most)
    field.child(name).invalid('', `can have at most ${most} characters`);
}

/** Of events in both groups; what needs eventTime is asked only of those that have one. */
function common({ object: event, asked }: Subject, root: Field): void {
  const namespace = text(at(event, 'metadata', 'namespace'));
  const about = text(at(event, 'involvedObject', 'namespace'));
  const timed = isTime(event['eventTime']);
  const homeless = ['', 'default', ...(timed ? ['kube-system'] : [])];
  if (about === '' ? !homeless.includes(namespace) : !timed && about !== namespace)
    root.child('involvedObject', 'namespace').invalid(about, 'does not match event.namespace');
  if (timed) {
    const controller = text(event['reportingComponent']);
    const path = root.child(asked.group === '' ? 'reportingComponent' : 'reportingController');
    if (!controller) path.required();
    path.invalidAll(controller, validateQualifiedName(controller));
    for (const name of ['reportingInstance', 'action', 'reason']) {
      if (!text(event[name])) root.child(name).required();
      limited(event, name, 128, root);
    }
    limited(event, 'message', 1024, root);
  }
  dns1123Subdomain(namespace, root.child('namespace'));
}

function series(value: unknown, root: Field): void {
  if (!isRecord(value)) return;
  if (int(value['count']) < 2) root.child('series.count').invalid('', 'should be at least 2');
  if (!isTime(value['lastObservedTime'])) root.child('series.lastObservedTime').required();
}

/** Only old clients, of the core group, write events of the old form. */
function newForm(event: JsonObject, root: Field): void {
  series(event['series'], root);
  if (!isTime(event['eventTime'])) root.child('eventTime').required();
  const type = text(event['type']);
  if (type !== 'Normal' && type !== 'Warning') root.child('type').invalid('', `has invalid value: ${type}`);
  const unset = 'needs to be unset';
  for (const name of ['firstTimestamp', 'lastTimestamp'])
    if (isTime(event[name])) root.child(name).invalid('', unset);
  if (int(event['count']) !== 0) root.child('count').invalid('', unset);
  if (text(at(event, 'source', 'component')) || text(at(event, 'source', 'host')))
    root.child('source').invalid('', unset);
}

const shown = (type: string) => (value: unknown) => internal(value ?? {}, type) as Json;
const orElse = (zero: Json) => (value: unknown) => (value as Json | undefined) ?? zero;

/** A field's stored name, kube-apiserver's name for it, and what stands for an absent one. */
const frozen: readonly (readonly [string, string, (value: unknown) => Json])[] = [
  ['involvedObject', 'involvedObject', shown('core.ObjectReference')],
  ['reason', 'reason', orElse('')],
  ['message', 'message', orElse('')],
  ['source', 'source', shown('core.EventSource')],
  ['firstTimestamp', 'firstTimestamp', orElse(null)],
  ['lastTimestamp', 'lastTimestamp', orElse(null)],
  ['count', 'count', orElse(0)],
  ['reason', 'reason', orElse('')],
  ['type', 'type', orElse('')],
  ['eventTime', 'eventTime', orElse(null)],
  ['action', 'action', orElse('')],
  ['related', 'related', (value) => (value ? shown('core.ObjectReference')(value) : null)],
  ['reportingComponent', 'reportingController', orElse('')],
  ['reportingInstance', 'reportingInstance', orElse('')],
];

/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
const event: KindCheck = (subject, root) => {
  common(subject, root);
  const { object, old, asked } = subject;
  if (asked.group === '') return;
  if (!old) {
    newForm(object, root);
    return;
  }
  if (!sameJson(object['series'], old['series'])) series(object['series'], root);
  for (const [name, path, value] of frozen) {
    const now = value(object[name]);
    if (!sameJson(now, value(old[name]))) root.child(path).invalid(now, immutable);
  }
};

export const eventChecks: KindChecks = { '/Event': event };
