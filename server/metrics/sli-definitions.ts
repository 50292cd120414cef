import { counter, gauge } from './define.ts';
import type { Definition } from './family.ts';

const page = 'slis';

/** Of /metrics/slis, as kube-apiserver 1.36.3 gives them. */
export const slis = {
  check: {
    ...gauge(
      'kubernetes_healthcheck',
      '[STABLE] This metric records the result of a single healthcheck.',
      ['name', 'type'],
      'first',
    ),
    page,
  },
  checks: {
    ...counter(
      'kubernetes_healthchecks_total',
      '[STABLE] This metric records the results of all healthcheck.',
      ['name', 'status', 'type'],
    ),
    page,
  },
} as const satisfies Record<string, Definition>;
