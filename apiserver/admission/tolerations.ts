import type { JsonObject } from '../../kube/object.ts';

/**
 * Without those that another one includes, in order; of equal ones the first stays. As RuntimeClasses add theirs to a Pod's.
 * In one pass each way: a class may have tens of thousands, and comparing all with all stopped the server for minutes.
 */
export function mergedTolerations(all: readonly JsonObject[]): JsonObject[] {
  const known = new Set<string>();
  const unique = all.filter((one) => known.size < known.add(identityOf(one)).size);
  return withoutIncluded(withoutIncluded(unique.reverse()).reverse());
}

/** Without those that one before includes. */
function withoutIncluded(all: readonly JsonObject[]): JsonObject[] {
  const before = new Included();
  return all.filter((one) => {
    const isIncluded = before.has(one);
    before.add(one);
    return !isIncluded;
  });
}

function identityOf(one: JsonObject): string {
  return nameOf(
    ...['key', 'operator', 'value', 'effect', 'tolerationSeconds'].map((field) => of(one, field)),
  );
}

function of(toleration: JsonObject, field: string): unknown {
  return toleration[field] ?? '';
}

function nameOf(...parts: readonly unknown[]): string {
  return JSON.stringify(parts.map(String));
}

/** What these tolerate, by all that another one has to have in common with them, and for how long at most. */
class Included {
  readonly #seconds = new Map<string, number>();

  add(most: JsonObject): void {
    const [operator, key, effect] = ['operator', 'key', 'effect'].map((field) => of(most, field));
    const name =
      operator === 'Exists'
        ? nameOf('Exists', key, effect)
        : operator === 'Equal' || operator === ''
          ? nameOf('Equal', key, effect, of(most, 'value'))
          : undefined;
    if (name === undefined) return;
    const seconds = effect === 'NoExecute' ? secondsOf(most) : Number.POSITIVE_INFINITY;
    this.#seconds.set(name, Math.max(seconds, this.#seconds.get(name) ?? Number.NEGATIVE_INFINITY));
  }

  /** Whether one of these tolerates all that `one` does. One without operator is equal to its like alone, as upstream has it. */
  has(one: JsonObject): boolean {
    const [key, value] = [of(one, 'key'), of(one, 'value')];
    const names = [of(one, 'effect'), ''].flatMap((effect) => [
      nameOf('Exists', key, effect),
      nameOf('Exists', '', effect),
      ...(of(one, 'operator') === 'Equal' ? [nameOf('Equal', key, effect, value)] : []),
    ]);
    const seconds = secondsOf(one);
    return names.some((name) => (this.#seconds.get(name) ?? Number.NEGATIVE_INFINITY) >= seconds);
  }
}

/** Infinity: it does not say when it ends. */
function secondsOf({ tolerationSeconds: seconds }: JsonObject): number {
  const isSaid = typeof seconds === 'number' || typeof seconds === 'bigint';
  return isSaid ? Number(seconds) : Number.POSITIVE_INFINITY;
}
