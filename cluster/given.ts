import type { KubeObject } from '../kube/object.ts';
import { getOwn, record } from '../kube/untyped.ts';
import { givenAnnotation } from './names.ts';
import { isOurs, isReflected, reflectedFrom } from './reflected.ts';

/** Of these the metadata that somebody here writes stays here. A Pod's and a claim's is written where it runs. */
const kept = new Set(['ReplicaSet', 'ControllerRevision', 'Job']);

/** Labels and annotations, each by name. */
export interface Marks {
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** What is said under a name; null: nothing. */
type Said = string | null;

/** Of one name that somebody here has changed. */
interface Noted {
  /** What was said as it was changed. */
  said: Said;
  /** What each cluster said first since then: several may have the object, and differ. */
  by: Record<string, Said>;
}

type Note = Record<keyof Marks, Record<string, Noted>>;

export function keepsGiven(kind: string): boolean {
  return kept.has(kind);
}

/**
 * `next` as somebody writes it over `old`: a reflection, and what is nobody's until a cluster has it again, notes what was said of the
 * labels and annotations that change.
 */
export function withGiven(next: KubeObject, old: KubeObject): KubeObject {
  const isWaiting = !isReflected(old) && Object.hasOwn(givenOf(old), givenAnnotation);
  if (!keepsGiven(old.kind) || !(isReflected(old) || isWaiting)) return next;
  const before = noteOf(old);
  const from = reflectedFrom(old);
  const only = from.length === 1 ? from[0] : undefined;
  const changed = (map: keyof Marks) => {
    const [was, is] = [old.metadata[map] ?? {}, next.metadata[map] ?? {}];
    const names = new Set([...Object.keys(was), ...Object.keys(is), ...Object.keys(before[map])]);
    const told = [...names].sort().map((name): [string, Noted] => {
      const said = getOwn(was, name) ?? null;
      return [name, getOwn(before[map], name) ?? { said, by: only === undefined ? {} : { [only]: said } }];
    });
    const isChanged = (name: string, { said, by }: Noted) =>
      [said, ...Object.values(by)].some((each) => each !== (getOwn(is, name) ?? null));
    return Object.fromEntries(told.filter(([name, noted]) => !isOurs(name) && isChanged(name, noted)));
  };
  const noted = textOf({ labels: changed('labels'), annotations: changed('annotations') });
  const note = isWaiting ? (noted ?? '{}') : noted;
  const { [givenAnnotation]: _, ...annotations } = next.metadata.annotations ?? {};
  return {
    ...next,
    metadata: {
      ...next.metadata,
      annotations: { ...annotations, ...(note !== undefined && { [givenAnnotation]: note }) },
    },
  };
}

/**
 * What a cluster says now, with what somebody here has changed since it said the same: the last word counts. Of one that has it anew, or
 * beside others, the first word is no other one.
 */
export function withUsersWord(told: Marks, before: KubeObject | undefined, cluster: string): Marks {
  if (!before) return told;
  const noted = noteOf(before);
  const from = reflectedFrom(before);
  const still = (map: keyof Marks) =>
    Object.entries(noted[map]).flatMap(([name, { said, by }]): [string, Noted][] => {
      const now = getOwn(told[map], name) ?? null;
      const others = Object.entries(by).filter(([other]) => from.includes(other));
      const known = Object.fromEntries(others);
      if (Object.hasOwn(known, cluster) && known[cluster] !== now) return [];
      return [[name, { said, by: { ...known, [cluster]: now } }]];
    });
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

/** The note alone, of nothing at least: for one that is nobody's reflection until a cluster has it again. */
export function givenNote(object: KubeObject): Record<string, string> {
  return { [givenAnnotation]: '{}', ...givenOf(object) };
}

function givenOf({ metadata }: KubeObject): Record<string, string> {
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
  return { labels: notedIn(note['labels']), annotations: notedIn(note['annotations']) };
}

/** One from before it was told who said it has what was said alone. */
function notedIn(names: unknown): Record<string, Noted> {
  return Object.fromEntries(
    Object.entries(record(names) as Record<string, Noted | Said>).map(([name, noted]) => [
      name,
      noted === null || typeof noted === 'string' ? { said: noted, by: {} } : noted,
    ]),
  );
}
