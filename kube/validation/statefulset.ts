import { sameJson } from '../deep.ts';
import type { JsonObject } from '../object.ts';
import { at, isRecord, record, records, text } from '../untyped.ts';
import { claimSpec } from './claim.ts';
import { Field } from './field.ts';
import { internal } from './internal.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labelSelector, labels, selects, selectsAll } from './labels.ts';
import { annotations } from './meta.ts';
import { podAnnotations } from './pod/annotations.ts';
import { podTemplate } from './pod/spec.ts';
import { dns1123Label, nonNegative } from './rules.ts';
import { checkMatch, longRunning, templateLabels } from './workloads.ts';

const mutableSetFields = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
];

function claimTemplates(spec: JsonObject, field: Field): void {
  for (const [index, claim] of records(spec['volumeClaimTemplates']).entries()) {
    claimSpec(claim['spec'], field.child('volumeClaimTemplates').index(index).child('spec'));
  }
}

/** Claims become volumes of the pod, in place of its own of the same name. */
function withClaimVolumes(spec: JsonObject): JsonObject {
  const claims = records(spec['volumeClaimTemplates']).map((claim) => text(at(claim, 'metadata', 'name')));
  const pod = record(at(spec, 'template', 'spec'));
  const own = records(pod['volumes']).filter((volume) => !claims.includes(text(volume['name'])));
  const added = [...new Set(claims)].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const { hostname: _hostname, subdomain: _subdomain, ...rest } = pod;
  return { ...record(spec['template']), spec: { ...rest, volumes: [...added, ...own] } };
}

function setStrategy(spec: JsonObject, field: Field): void {
  const policy = text(spec['podManagementPolicy']);
  if (!policy) field.child('podManagementPolicy').required();
  else if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    field.child('podManagementPolicy').invalid(policy, "must be 'OrderedReady' or 'Parallel'");
  }
  const strategy = record(spec['updateStrategy']);
  const rolling = strategy['rollingUpdate'];
  const path = field.child('updateStrategy');
  if (strategy['type'] === 'OnDelete') {
    if (isRecord(rolling))
      path
        .child('rollingUpdate')
        .invalid(
          internal(rolling, 'apps.RollingUpdateStatefulSetStrategy'),
          "only allowed for updateStrategy 'RollingUpdate'",
        );
  } else if (!strategy['type']) path.required();
  else if (strategy['type'] === 'RollingUpdate') {
    nonNegative(at(rolling, 'partition'), path.child('rollingUpdate', 'partition'));
  } else {
    path.invalid(
      internal(strategy, 'apps.StatefulSetUpdateStrategy'),
      "must be 'RollingUpdate' or 'OnDelete'",
    );
  }
  const retention = record(spec['persistentVolumeClaimRetentionPolicy']);
  for (const when of ['whenDeleted', 'whenScaled']) {
    const given = text(retention[when]);
    if (given === 'Retain' || given === 'Delete') continue;
    field.child('persistentVolumeClaimRetentionPolicy', when).notSupported(given, ['Retain', 'Delete']);
  }
}

const statefulSet: KindCheck = (subject, root) => {
  const { spec, old, oldSpec } = subject;
  const field = root.child('spec');
  setStrategy(spec, field);
  if (!oldSpec) claimTemplates(spec, field);
  nonNegative(spec['replicas'], field.child('replicas'));
  nonNegative(spec['minReadySeconds'], field.child('minReadySeconds'));
  nonNegative(at(spec, 'ordinals', 'start'), field.child('ordinals.start'));
  if (!oldSpec && text(spec['serviceName']))
    dns1123Label(text(spec['serviceName']), field.child('serviceName'));
  const selector = spec['selector'];
  if (!isRecord(selector)) field.child('selector').required();
  else {
    labelSelector(selector, field.child('selector'));
    if (selectsAll(selector))
      field.child('selector').invalid(selector, 'empty selector is invalid for statefulset');
  }
  if (selects(selector, {}) === undefined) field.child('selector').invalid(selector, '');
  else {
    checkMatch(spec, field);
    const template = withClaimVolumes(spec);
    if (!old || isValidSet(old)) podTemplate(template, field.child('template'));
    const own = at(template, 'metadata', 'annotations');
    labels(templateLabels(spec), field.child('template', 'labels'));
    annotations(own, field.child('template', 'annotations'));
    podAnnotations(own, record(at(template, 'spec')), field.child('template', 'annotations'));
  }
  longRunning(spec, 'StatefulSet', field);
  if (!oldSpec) return;
  const fixed = (of: JsonObject) => Object.entries(of).filter(([key]) => !mutableSetFields.includes(key));
  if (!sameJson(Object.fromEntries(fixed(spec)), Object.fromEntries(fixed(oldSpec)))) {
    const mutable =
      "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'";
    field.forbidden(`updates to statefulset spec for fields other than ${mutable} are forbidden`);
  }
};

/** Templates that were taken long ago may stay. */
function isValidSet(old: JsonObject): boolean {
  const root = new Field([]);
  podTemplate(withClaimVolumes(record(old['spec'])), root.child('template'));
  return root.causes.length === 0;
}

export const statefulSetChecks: KindChecks = { 'apps/StatefulSet': statefulSet };
