import { counter, histogram } from './define.ts';

const labels = ['result', 'failure_type'];

/** Of conversion webhooks, as kube-apiserver 1.36.3 gives them. */
export const conversions = {
  requests: counter(
    'apiserver_conversion_webhook_request_total',
    '[ALPHA] Counter for conversion webhook requests with success/failure and failure error type',
    labels,
  ),
  durations: histogram(
    'apiserver_conversion_webhook_duration_seconds',
    '[ALPHA] Conversion webhook request latency',
    labels,
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60],
  ),
} as const;
