import { at, isRecord, records, text } from '../untyped.ts';
import { internal } from './internal.ts';
import type { KindCheck, KindChecks } from './kind.ts';
import { labels } from './labels.ts';
import { tolerations } from './pod/affinity.ts';
import { resources } from './pod/resources.ts';
import { dns1123Label, immutable } from './rules.ts';

/** https://kubernetes.io/docs/concepts/containers/runtime-class/ */
const runtimeClass: KindCheck = ({ object, old }, root) => {
  const handler = text(object['handler']);
  if (old && old['handler'] !== handler) root.child('handler').invalid(handler, immutable);
  if (!handler) root.child('handler').required();
  else dns1123Label(handler, root.child('handler'));
  const fixed = at(object, 'overhead', 'podFixed');
  if (isRecord(fixed)) resources({ limits: fixed }, [], root.child('overhead'));
  labels(at(object, 'scheduling', 'nodeSelector'), root.child('scheduling', 'nodeSelector'));
  const list = at(object, 'scheduling', 'tolerations');
  const field = root.child('scheduling', 'tolerations');
  tolerations(list, field);
  const seen = new Set<string>();
  for (const [index, toleration] of records(list).entries()) {
    const identity = JSON.stringify(
      ['key', 'operator', 'value', 'effect'].map((name) => text(toleration[name])),
    );
    if (seen.has(identity)) field.index(index).duplicate(internal(toleration, 'core.Toleration'));
    seen.add(identity);
  }
};

export const runtimeClassChecks: KindChecks = { 'node.k8s.io/RuntimeClass': runtimeClass };
