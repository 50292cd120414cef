import { sameJson } from '../../deep.ts';
import type { JsonObject } from '../../object.ts';
import { at, int, isRecord, record, records, text } from '../../untyped.ts';
import { jsonDiff } from '../diff.ts';
import type { Field } from '../field.ts';
import { internal } from '../internal.ts';
import type { KindCheck, KindChecks } from '../kind.ts';
import { inclusiveRange, isSet } from '../rules.ts';
import { tolerations as checkTolerations } from './affinity.ts';
import { podAnnotationChanges, podAnnotations, profilesMatch } from './annotations.ts';
import { podSpec } from './spec.ts';

const maxInt32 = 2_147_483_647;

/** The whole of a Pod as it is now, whatever it was. */
export function podAsItIs(object: unknown, root: Field): void {
  const spec = record(at(object, 'spec'));
  const field = root.child('spec');
  podAnnotations(at(object, 'metadata', 'annotations'), spec, root.child('metadata', 'annotations'));
  podSpec(spec, field, { isPod: true, name: text(at(object, 'metadata', 'name')) });
  onlyInPods(spec, field);
}

const pod: KindCheck = ({ object, spec, old, oldSpec }, root) => {
  const field = root.child('spec');
  const annotations = at(object, 'metadata', 'annotations');
  const where = root.child('metadata', 'annotations');
  podAsItIs(object, root);
  if (old && oldSpec) {
    podAnnotationChanges(annotations, at(old, 'metadata', 'annotations'), where);
    podAnnotations(annotations, spec, where);
    podUpdate(spec, oldSpec, field);
    return;
  }
  if (records(spec['ephemeralContainers']).length > 0)
    field.child('ephemeralContainers').forbidden('cannot be set on create');
  if (text(spec['nodeName']) && records(spec['schedulingGates']).length > 0) {
    field.child('nodeName').forbidden('cannot be set until all schedulingGates have been cleared');
  }
  profilesMatch(annotations, spec, field);
};

/** What templates get away with. */
function onlyInPods(spec: JsonObject, field: Field): void {
  if (!text(spec['serviceAccountName'])) {
    for (const [index, volume] of records(spec['volumes']).entries()) {
      for (const [i, source] of records(at(volume, 'projected', 'sources')).entries()) {
        if (!isSet(source, 'serviceAccountToken')) continue;
        const path = field.child('volumes').index(index).child('projected', 'sources').index(i);
        const rule = 'must not be specified when serviceAccountName is not set';
        path.child('serviceAccountToken').forbidden(rule);
      }
    }
  }
  for (const list of ['containers', 'initContainers']) {
    for (const [index, { image }] of records(spec[list]).entries())
      trimmed(text(image), field.child(list).index(index).child('image'));
  }
}

function trimmed(image: string, field: Field): void {
  if (image !== image.trim()) field.invalid(image, 'must not have leading or trailing whitespace');
}

/** Whether containers came or went, after which nothing else is worth saying. */
function containersMoved(spec: JsonObject, oldSpec: JsonObject, field: Field): boolean {
  for (const name of ['containers', 'initContainers']) {
    const now = records(spec[name]);
    if (now.length !== records(oldSpec[name]).length) {
      field.child(name).forbidden('pod updates may not add or remove containers');
      return true;
    }
    for (const [index, container] of now.entries()) {
      const image = text(container['image']);
      const path = field.child(name).index(index).child('image');
      if (!image) path.required();
      trimmed(image, path);
    }
  }
  return false;
}

function deadline(spec: JsonObject, oldSpec: JsonObject, field: Field): boolean {
  const now = spec['activeDeadlineSeconds'];
  const before = oldSpec['activeDeadlineSeconds'];
  if (typeof now === 'number') {
    if (now < 0 || now > maxInt32) field.invalid(now, inclusiveRange(0, maxInt32));
    else if (typeof before === 'number' && before < now)
      field.invalid(now, 'must be less than or equal to previous value');
    else return false;
    return true;
  }
  if (before !== undefined) field.invalid(null, 'must not update from a positive integer to nil value');
  return false;
}

const updatable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

function podUpdate(spec: JsonObject, oldSpec: JsonObject, field: Field): void {
  if (containersMoved(spec, oldSpec, field)) return;
  if (deadline(spec, oldSpec, field.child('activeDeadlineSeconds'))) return;
  const tolerations = records(spec['tolerations']);
  const before = records(oldSpec['tolerations']);
  const bare = ({ tolerationSeconds: _seconds, ...rest }: JsonObject) => rest;
  const kept = before.every((old) => tolerations.some((now) => sameJson(bare(now), bare(old))));
  const path = field.child('tolerations');
  if (!kept) path.forbidden('existing toleration can not be modified except its tolerationSeconds');
  else checkTolerations(spec['tolerations'], path);
  const oldGates = records(oldSpec['schedulingGates']).map((gate) => gate['name']);
  for (const [index, { name }] of records(spec['schedulingGates']).entries()) {
    if (oldGates.includes(name ?? null)) continue;
    const rule = `only deletion is allowed, but found new scheduling gate '${text(name)}'`;
    field.child('schedulingGates').index(index).child('name').forbidden(rule);
  }
  const munged = withOld(spec, oldSpec, field);
  if (sameJson(munged, oldSpec)) return;
  const difference = jsonDiff(internal(oldSpec, 'core.PodSpec'), internal(munged, 'core.PodSpec'));
  field.forbidden(`pod updates may not change fields other than ${updatable.join(',')}\n${difference}`);
}

const copied = ['activeDeadlineSeconds', 'schedulingGates', 'tolerations'];

/** The spec with what a running Pod may change as it was. */
function withOld(spec: JsonObject, oldSpec: JsonObject, field: Field): JsonObject {
  const out = { ...spec };
  const keep = (name: string) => {
    if (oldSpec[name] === undefined) delete out[name];
    else out[name] = oldSpec[name];
  };
  for (const name of ['containers', 'initContainers']) {
    const before = records(oldSpec[name]);
    if (!Array.isArray(spec[name])) continue;
    out[name] = records(spec[name]).map((one, i) => ({ ...one, image: before[i]?.['image'] ?? '' }));
  }
  for (const name of copied) keep(name);
  if (int(oldSpec['terminationGracePeriodSeconds']) < 0 && spec['terminationGracePeriodSeconds'] === 1)
    keep('terminationGracePeriodSeconds');
  if (records(oldSpec['schedulingGates']).length === 0) return out;
  nodeSelectorGrows(spec['nodeSelector'], oldSpec['nodeSelector'], field.child('nodeSelector'));
  keep('nodeSelector');
  const [now, before] = [record(spec['affinity']), record(oldSpec['affinity'])];
  if (sameJson(now['nodeAffinity'], before['nodeAffinity'])) return out;
  nodeAffinityGrows(now['nodeAffinity'], before['nodeAffinity'], field.child('affinity', 'nodeAffinity'));
  const { nodeAffinity: _own, ...others } = now;
  const old = before['nodeAffinity'];
  if (old !== undefined) out['affinity'] = { ...others, nodeAffinity: old };
  else if (Object.keys(others).length > 0 || isRecord(oldSpec['affinity'])) out['affinity'] = others;
  else delete out['affinity'];
  return out;
}

function nodeSelectorGrows(now: unknown, before: unknown, field: Field): void {
  const [more, less] = [record(now), record(before)];
  if (Object.keys(less).every((key) => Object.hasOwn(more, key) && more[key] === less[key])) return;
  field.invalid(now ?? null, 'only additions to spec.nodeSelector are allowed (no mutations or deletions)');
}

function nodeAffinityGrows(now: unknown, before: unknown, field: Field): void {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const old = records(at(before, required, 'nodeSelectorTerms'));
  if (old.length === 0) return;
  const terms = records(at(now, required, 'nodeSelectorTerms'));
  const path = field.child(required, 'nodeSelectorTerms');
  if (terms.length !== old.length) {
    const rule = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    path.invalid(internal(at(now, required, 'nodeSelectorTerms'), '[]core.NodeSelectorTerm'), rule);
    return;
  }
  for (const [index, term] of old.entries()) {
    const lists = ['matchExpressions', 'matchFields'].map((name) => [
      records(term[name]),
      records(terms[index]?.[name]),
    ]);
    const grows = lists.every(([was = [], is = []]) => sameJson(is.slice(0, was.length), was));
    const wasEmpty = lists.every(([was = []]) => was.length === 0);
    if (grows && !(wasEmpty && lists.some(([, is = []]) => is.length > 0))) continue;
    const rule = 'only additions are allowed (no mutations or deletions)';
    path.index(index).invalid(internal(terms[index], 'core.NodeSelectorTerm'), rule);
  }
}

export const podChecks: KindChecks = { '/Pod': pod };
