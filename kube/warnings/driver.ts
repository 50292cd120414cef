import { sameJson } from '../deep.ts';
import { at, records } from '../untyped.ts';
import type { KindWarnings } from './kind.ts';

/** https://kubernetes-csi.github.io/docs/token-requests.html */
export const driverWarnings: KindWarnings = (object, old) => {
  const requests = at(object, 'spec', 'tokenRequests');
  if (records(requests).length === 0 || at(object, 'spec', 'serviceAccountTokenInSecrets') !== undefined)
    return [];
  if (old && sameJson(requests, at(old, 'spec', 'tokenRequests'))) return [];
  return [
    'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
  ];
};
