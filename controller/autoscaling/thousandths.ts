import { parseQuantity, scaledQuantity } from '../../kube/quantity.ts';

const most = 2n ** 63n - 1n;

/** As many as Kubernetes counts: beyond that a float knows no number, and no number is none at all. */
export function bounded(value: bigint): bigint {
  return value > most ? most : value < -most ? -most : value;
}

/** Of a quantity. Throws QuantityError where it is none. */
export function thousandths(said: string | number): bigint {
  return bounded(scaledQuantity(parseQuantity(said), -3));
}
