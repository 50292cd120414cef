/**
 * The same function, which reckons once for each object. For what is never changed in place, as the objects that informers hold:
 * who asks again about what has not been written since gets the same answer, which nobody may change either.
 */
export function perObject<K extends object, V>(of: (object: K) => V): (object: K) => V {
  const known = new WeakMap<K, { value: V }>();
  return (object) => {
    const found = known.get(object);
    if (found) return found.value;
    const value = of(object);
    known.set(object, { value });
    return value;
  };
}
