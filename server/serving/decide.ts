/** What one process did in the last second. */
export interface Load {
  /** Of its event loop's time, 0 to 1. */
  busy: number;
  requests: number;
  /** Now. */
  connections: number;
}

export type Step =
  | { do: 'start' }
  /** Process `from` closes this share of its connections, each after its next answer: who comes again finds another one. */
  | { do: 'shed'; from: number; share: number }
  /** The last process ends. */
  | { do: 'retire' };

export interface Situation {
  /** That of the first process, then those beside it that are ready. */
  loads: readonly Load[];
  /** One is not ready yet, or failed a moment ago. */
  waiting: boolean;
  /** How many there may be beside the first. */
  most: number;
  /** For how many seconds all together could be done by less than one. */
  quietSeconds: number;
}

const full = 0.75;
const uneven = 0.15;
/** Fewer requests in a second do not make a process busy: our own controllers do. */
const many = 100;
const retireAfterSeconds = 60;

/** Together less than this: one process fewer would do, and not be full. */
export function isQuiet(loads: readonly Load[]): boolean {
  return loads.reduce((sum, { busy }) => sum + busy, 0) < full / 2;
}

/** What to do after a second of such loads; undefined: nothing. */
export function decide({ loads, waiting, most, quietSeconds }: Situation): Step | undefined {
  const beside = loads.length - 1;
  const [busiest, idlest] = extremes(loads);
  const { busy = 0, requests = 0, connections = 0 } = loads[busiest] ?? {};
  const least = loads[idlest]?.busy ?? 0;
  if (busy >= full && requests >= many) {
    if (busy - least >= uneven && connections > 1) {
      return { do: 'shed', from: busiest, share: (busy - least) / busy };
    }
    if (!waiting && beside < most && least >= full - uneven) return { do: 'start' };
  }
  if (beside > 0 && quietSeconds >= retireAfterSeconds) return { do: 'retire' };
  return undefined;
}

function extremes(loads: readonly Load[]): [busiest: number, idlest: number] {
  const by = loads.map(({ busy }, i) => ({ busy, i })).sort((a, b) => a.busy - b.busy);
  return [by.at(-1)?.i ?? 0, by[0]?.i ?? 0];
}
