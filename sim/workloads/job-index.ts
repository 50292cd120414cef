import type { Pod, Workload } from '../types.ts';

export const indexKey = 'batch.kubernetes.io/job-completion-index';

export function indexed(job: Workload): boolean {
  return job.spec?.['completionMode'] === 'Indexed';
}

export function indexOf(pod: Pod): number {
  return Number(pod.metadata.annotations?.[indexKey] ?? -1);
}

/** `1,3-5,7`, as status.completedIndexes has it. */
export const ranges = {
  parse(text: unknown): number[] {
    if (typeof text !== 'string' || text === '') return [];
    return text.split(',').flatMap((part) => {
      const [from = 0, to = from] = part.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    });
  },
  format(numbers: ReadonlySet<number>): string {
    const runs: [number, number][] = [];
    for (const n of [...numbers].sort((a, b) => a - b)) {
      const last = runs.at(-1);
      if (last && last[1] === n - 1) last[1] = n;
      else runs.push([n, n]);
    }
    return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
  },
};
