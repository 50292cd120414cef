import type { Refusal } from '../apiserver/egress/decide.ts';
import { Egress } from '../apiserver/egress/dial.ts';
import type { Settings } from './settings.ts';

/** Of this process, which knows at what port the server listens though it may not be the one that does. */
export function egressOf(
  { egressAllow, egressDeny, listen }: Settings,
  pardoned: readonly Refusal[] = [],
): Egress {
  return new Egress({ allow: egressAllow, deny: egressDeny, ports: [listen.port], pardoned });
}

/**
 * To the APIs of physical clusters. Those of a developer's own machine are at loopback (kind's) or say 0.0.0.0 (k3d's);
 * whoever may register one is an administrator of root.
 */
export function egressToClusters(settings: Settings): Egress {
  return egressOf(settings, ['loopback', 'unspecified', 'own']);
}
