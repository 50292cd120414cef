import type { Pod } from '../types.ts';

/** From and to, in milliseconds; a seeded draw decides between. */
export type Span = readonly [number, number];

/** How pods that match behave: data, not code. The first behaviour that matches a pod is its own. */
export interface Behaviour {
  name: string;
  /** All that is given must hold; nothing given matches every pod. `ends`: bare, and restarted on failure at most. */
  match?: {
    namespace?: string;
    labels?: Record<string, string>;
    image?: string;
    owner?: string;
    ends?: boolean;
  };
  scheduledAfterMs: Span;
  /** From scheduled to running and ready. */
  readyAfterMs: Span;
  /** From ready to Succeeded; absent: runs for ever. */
  succeedsAfterMs?: Span;
  /** Instead of becoming ready. `Failed` ends the pod, `Waiting` leaves it unready for ever. */
  fails?: { as: 'Failed' | 'Waiting'; reason: string; message: string };
  /** From the request to delete until it is gone. */
  stopsAfterMs: Span;
}

export const defaultBehaviours: readonly Behaviour[] = [
  {
    name: 'job',
    match: { owner: 'Job' },
    scheduledAfterMs: [20, 60],
    readyAfterMs: [100, 300],
    succeedsAfterMs: [300, 800],
    stopsAfterMs: [20, 60],
  },
  {
    name: 'task',
    match: { ends: true },
    scheduledAfterMs: [20, 60],
    readyAfterMs: [100, 300],
    succeedsAfterMs: [300, 800],
    stopsAfterMs: [20, 60],
  },
  { name: 'server', scheduledAfterMs: [20, 60], readyAfterMs: [150, 600], stopsAfterMs: [50, 150] },
];

export function behaviourOf(pod: Pod, behaviours: readonly Behaviour[]): Behaviour {
  const found = behaviours.find((behaviour) => matches(pod, behaviour.match ?? {}));
  return found ?? (defaultBehaviours.at(-1) as Behaviour);
}

function matches(pod: Pod, match: NonNullable<Behaviour['match']>): boolean {
  const owner = pod.metadata.ownerReferences?.find((ref) => ref.controller)?.kind;
  return (
    (match.namespace === undefined || match.namespace === pod.metadata.namespace) &&
    (match.owner === undefined || match.owner === owner) &&
    (match.ends === undefined || match.ends === ends(pod, owner)) &&
    (match.image === undefined ||
      (pod.spec?.containers ?? []).some((c) => c.image?.includes(match.image ?? ''))) &&
    Object.entries(match.labels ?? {}).every(([key, value]) => pod.metadata.labels?.[key] === value)
  );
}

/** A bare pod that is not to be restarted for ever: `helm test` waits for it to succeed. */
function ends({ spec }: Pod, owner: string | undefined): boolean {
  return (
    owner === undefined && (spec?.['restartPolicy'] === 'Never' || spec?.['restartPolicy'] === 'OnFailure')
  );
}

/** A small seeded generator (mulberry32): the same seed gives the same numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A number of the span that depends on the seed and the text alone, whatever was drawn before. */
export function draw(span: Span, seed: number, text: string): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619);
  return span[0] + Math.floor(seeded(hash)() * (span[1] - span[0]));
}
