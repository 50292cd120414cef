import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One real application or set of manifests, as bundles.json names it. */
export interface Bundle {
  name: string;
  note: string;
  files: string[];
  objects: number;
}

export async function readBundles(dir: string): Promise<Bundle[]> {
  const list = JSON.parse(await readFile(join(dir, 'bundles.json'), 'utf8')) as Bundle[];
  return list.map((bundle) => ({ ...bundle, files: bundle.files.map((file) => join(dir, file)) }));
}

/** The bundles whose CRDs this one uses, as its note says. */
export function needs(bundle: Bundle, all: readonly Bundle[]): Bundle[] {
  return all.filter((other) => other !== bundle && new RegExp(`needs ${other.name}\\b`).test(bundle.note));
}

/** What became of the objects of one `kubectl apply`. */
export interface Outcome {
  /** `deployment.apps/web` */
  taken: Set<string>;
  /** kubectl's error lines, without what differs from run to run. */
  errors: string[];
}

export function readOutcome(stdout: string, stderr: string): Outcome {
  const taken = new Set<string>();
  for (const line of stdout.split('\n')) {
    const match = /^(\S+\/\S+) (created|configured|unchanged|serverside-applied)/.exec(line);
    if (match?.[1]) taken.add(match[1]);
  }
  const errors = stderr
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('Warning:'))
    .map((line) => line.replaceAll(/127\.0\.0\.1:\d+|resourceVersion: "\d+"|uid: \S+/g, '…'));
  return { taken, errors };
}

export interface Difference {
  onlyAtoll: string[];
  onlyKubernetes: string[];
}

export function compare(atoll: Outcome, kubernetes: Outcome): Difference {
  return {
    onlyAtoll: [...atoll.taken].filter((name) => !kubernetes.taken.has(name)).sort(),
    onlyKubernetes: [...kubernetes.taken].filter((name) => !atoll.taken.has(name)).sort(),
  };
}
