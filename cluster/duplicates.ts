import { deepEqual } from '../kube/deep.ts';
import { isRecord, textAt } from '../kube/untyped.ts';

type Spec = Record<string, unknown>;
type Entry = Spec;

/**
 * A pod's spec as server-side apply takes it. A client may create pods that say a variable, a port or a pull secret twice; applied,
 * they are refused. What comes to the same is left out; what does not is left as it is.
 */
export function withoutDuplicates(spec: Spec): Spec {
  const next = { ...spec };
  for (const field of ['initContainers', 'containers'])
    replace(next, field, (containers) => containers.map(container));
  replace(next, 'imagePullSecrets', firstOfEach);
  return next;
}

function container(given: Entry): Entry {
  const next = { ...given };
  replace(next, 'env', once);
  replace(next, 'ports', firstOfEach);
  return next;
}

function replace(spec: Spec, field: string, change: (entries: Entry[]) => Entry[]): void {
  const entries = spec[field];
  if (Array.isArray(entries) && entries.every(isRecord)) spec[field] = change(entries);
}

function firstOfEach(entries: Entry[]): Entry[] {
  return entries.filter((entry, i) => !entries.slice(0, i).some((before) => deepEqual(before, entry)));
}

/** A container has the last value of a variable. A former one counts where what is between the two, or the last itself, is made of it. */
function once(env: Entry[]): Entry[] {
  if (new Set(env.map(({ name }) => name)).size === env.length) return env;
  const refers = (entry: Entry, name: unknown) =>
    (textAt(entry, 'value') ?? '').includes(`$(${String(name)})`);
  return env.filter((entry, i) => {
    const later = env.findIndex(({ name }, j) => j > i && name === entry['name']);
    return later < 0 || env.slice(i + 1, later + 1).some((other) => refers(other, entry['name']));
  });
}
