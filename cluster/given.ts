import type { KubeObject } from '../kube/object.ts';
import { getOwn, record } from '../kube/untyped.ts';
import { givenAnnotation } from './names.ts';
import { isOurs, isReflected } from './reflected.ts';

/** Of these the metadata that somebody here writes stays here. A Pod's and a claim's is written where it runs. */
const kept = new Set(['ReplicaSet', 'ControllerRevision', 'Job']);

/** Labels and annotations, each by name. */
export interface Marks {
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** What a cluster said under the names that somebody here has changed since; null: it did not. */
type Note = Record<keyof Marks, Record<string, string | null>>;

export function keepsGiven(kind: string): boolean {
  return kept.has(kind);
}

/** `next` as somebody writes it over `old`: a reflection notes what its cluster said of the labels and annotations that change. */
export function withGiven(next: KubeObject, old: KubeObject): KubeObject {
  if (!keepsGiven(old.kind) || !isReflected(old)) return next;
  const before = noteOf(old);
  const changed = (map: keyof Marks) => {
    const [was, is] = [old.metadata[map] ?? {}, next.metadata[map] ?? {}];
    const names = new Set([...Object.keys(was), ...Object.keys(is), ...Object.keys(before[map])]);
    const told = [...names].sort().map((name) => {
      const noted = getOwn(before[map], name);
      return [name, noted === undefined ? (getOwn(was, name) ?? null) : noted] as const;
    });
    return Object.fromEntries(
      told.filter(([name, said]) => !isOurs(name) && said !== (getOwn(is, name) ?? null)),
    );
  };
  const note = textOf({ labels: changed('labels'), annotations: changed('annotations') });
  const { [givenAnnotation]: _, ...annotations } = next.metadata.annotations ?? {};
  return {
    ...next,
    metadata: {
      ...next.metadata,
      annotations: { ...annotations, ...(note !== undefined && { [givenAnnotation]: note }) },
    },
  };
}

/** What a cluster says now, with what somebody here has changed since it said the same: the last word counts. */
export function withUsersWord(told: Marks, before: KubeObject | undefined): Marks {
  if (!before) return told;
  const noted = noteOf(before);
  const still = (map: keyof Marks) =>
    Object.entries(noted[map]).filter(([name, said]) => said === (getOwn(told[map], name) ?? null));
  const note: Note = {
    labels: Object.fromEntries(still('labels')),
    annotations: Object.fromEntries(still('annotations')),
  };
  const worn = (map: keyof Marks) => {
    const users = Object.keys(note[map]).flatMap((name) => {
      const value = getOwn(before.metadata[map] ?? {}, name);
      return value === undefined ? [] : [[name, value] as const];
    });
    const theirs = Object.entries(told[map]).filter(([name]) => !Object.hasOwn(note[map], name));
    return Object.fromEntries([...theirs, ...users]);
  };
  const text = textOf(note);
  return {
    labels: worn('labels'),
    annotations: { ...worn('annotations'), ...(text !== undefined && { [givenAnnotation]: text }) },
  };
}

/** The note alone: for one that is nobody's reflection until a cluster has it again. */
export function givenNote({ metadata }: KubeObject): Record<string, string> {
  const note = getOwn(metadata.annotations ?? {}, givenAnnotation);
  return note === undefined ? {} : { [givenAnnotation]: note };
}

function textOf(note: Note): string | undefined {
  const some = Object.entries(note).filter(([, names]) => Object.keys(names).length > 0);
  return some.length > 0 ? JSON.stringify(Object.fromEntries(some)) : undefined;
}

/** Nobody but the server writes it. */
function noteOf({ metadata }: KubeObject): Note {
  const text = getOwn(metadata.annotations ?? {}, givenAnnotation);
  const note = record(text === undefined ? undefined : JSON.parse(text));
  return { labels: record(note['labels']), annotations: record(note['annotations']) } as Note;
}
