import { isOurs } from '../../cluster/marks.ts';
import { goType } from '../../kube/go-words.ts';
import type { JsonObject, KubeObject, ObjectMeta } from '../../kube/object.ts';
import type { StatusCause } from '../../kube/status.ts';
import { getOwn, isRecord } from '../../kube/untyped.ts';
import { Field } from '../../kube/validation/field.ts';
import { labels } from '../../kube/validation/labels.ts';
import { annotations } from '../../kube/validation/meta.ts';

type Words = Record<string, string>;

/**
 * The metadata of a converted object: the original's, but for the labels and annotations that the webhook gave it; those of our
 * own names are the original's, too, for what they say is not its webhook's to say. Or the problem, as kube-apiserver ends its
 * message.
 */
export function restored(
  original: KubeObject,
  given: JsonObject,
): { metadata: ObjectMeta; problem?: undefined } | { metadata?: undefined; problem: string } {
  const said = isRecord(given['metadata']) ? given['metadata'] : {};
  for (const [field, word] of identity) {
    const [is, was] = [textIn(said, field), textIn(original.metadata, field)];
    if (is !== was) return { problem: `object: must have the same ${word}: ${was} != ${is}` };
  }
  const { labels: _labels, annotations: _annotations, ...metadata } = original.metadata;
  const next: ObjectMeta = metadata;
  for (const field of ['labels', 'annotations'] as const) {
    const before = original.metadata[field] ?? {};
    const words = wordsIn(said, field, before);
    if (typeof words === 'string') return { problem: `metadata: ${words}` };
    const kept = words && withOurs(words, before);
    if (kept !== undefined) next[field] = kept;
  }
  return { metadata: next };
}

const identity = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

function textIn(metadata: object, field: string): string {
  const value = getOwn(metadata as Record<string, unknown>, field);
  return typeof value === 'string' ? value : '';
}

/** Labels or annotations; undefined: none. A string says what is wrong with them. */
function wordsIn(
  said: Record<string, unknown>,
  field: 'labels' | 'annotations',
  before: Words,
): Words | string | undefined {
  const given = said[field];
  if (given === undefined || given === null) return Object.values(before).length > 0 ? {} : undefined;
  if (!isRecord(given)) return `invalid metadata.${field} of type ${goType(given)} in converted object`;
  const entries = Object.entries(given);
  const strange = entries.find(([, value]) => typeof value !== 'string');
  if (strange !== undefined) {
    const [key, value] = strange;
    return `metadata.${field}[${key}] must be a string, but is ${goType(value)} in converted object`;
  }
  const words = given as Words;
  const same =
    entries.length === Object.keys(before).length && entries.every(([key, value]) => before[key] === value);
  return same ? words : (problemOf(words, field) ?? words);
}

function problemOf(words: Words, field: 'labels' | 'annotations'): string | undefined {
  const causes: StatusCause[] = [];
  // kube-apiserver's own name of the latter.
  const path = new Field(causes).child('metadata', field === 'labels' ? 'labels' : 'annotation');
  if (field === 'labels') labels(words, path);
  else annotations(words, path);
  if (causes.length === 0) return undefined;
  const all = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  return all.length === 1 ? all[0] : `[${all.join(', ')}]`;
}

function withOurs(words: Words, before: Words): Words | undefined {
  const theirs = Object.entries(words).filter(([key]) => !isOurs(key));
  const ours = Object.entries(before).filter(([key]) => isOurs(key));
  const all = [...theirs, ...ours];
  return all.length === 0 && Object.keys(words).length === 0 ? undefined : Object.fromEntries(all);
}
