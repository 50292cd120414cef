import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const sections = ['A', 'B', 'C', 'D', 'E', 'F'] as const;

/**
 * A: what an API server with its own controllers is for. B: also workload controllers, and pods that become ready. C and D: the
 * same of specs that are not tagged [Conformance]. E: of all, what takes long or is to run alone. F: of all, what needs Jobs whose pods
 * run on or fail, or a default StorageClass.
 */
export type Section = (typeof sections)[number];

/** Whether a cluster has to be joined that runs what the specs make. */
export function needsCluster(section: Section): boolean {
  return ['B', 'D', 'E', 'F'].includes(section);
}

export interface Specs {
  /** Full names, as Kubernetes' own program has them. */
  names: string[];
  /** Those of them that fail today, and are known to. */
  expectedToFail: ReadonlySet<string>;
}

/** Of the lists in `dir`: those of the section whose names match. */
export async function readSpecs(dir: string, section: Section, only: RegExp): Promise<Specs> {
  const all = await lines(join(dir, `section-${section.toLowerCase()}.txt`));
  const failing = await lines(join(dir, `expected-failures-${section.toLowerCase()}.txt`));
  const stray = failing.filter((name) => !all.includes(name));
  if (stray.length > 0)
    throw new Error(`expected to fail, but not in section ${section}: ${stray.join('; ')}`);
  return { names: all.filter((name) => only.test(name)), expectedToFail: new Set(failing) };
}

/** Ginkgo's words for a spec that ran and failed: one that was skipped or never began shows nothing. */
const failures: ReadonlySet<string> = new Set(['failed', 'timedout', 'interrupted', 'panicked']);

export function isAsExpected(state: string, failureExpected: boolean): boolean {
  return failureExpected ? failures.has(state) : state === 'passed';
}

async function lines(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}
