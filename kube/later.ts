/**
 * A value that is here, or will be. What every request asks for is mostly here: it is a Later where a promise would
 * cost more than the answer, and nobody waits for it who need not.
 */
export type Later<T> = T | Promise<T>;

export function isLater<T>(value: Later<T>): value is Promise<T> {
  return value instanceof Promise;
}

/** What `next` makes of the value: now if it is here. */
export function andThen<T, U>(value: Later<T>, next: (value: T) => Promise<U>): Promise<U>;
export function andThen<T, U>(value: Later<T>, next: (value: T) => Later<U>): Later<U>;
export function andThen<T, U>(value: Later<T>, next: (value: T) => Later<U>): Later<U> {
  return isLater(value) ? value.then(next) : next(value);
}

/** Does something with each in order, with one when the one before is done. */
export function inTurn<T>(items: readonly T[], act: (item: T) => Later<void>, from = 0): Later<void> {
  for (let i = from; i < items.length; i++) {
    const done = act(items[i] as T);
    if (isLater(done)) return done.then(() => inTurn(items, act, i + 1));
  }
}
