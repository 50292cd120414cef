import { counter, gauge, histogram } from './define.ts';

const sorted = ['priority_level', 'flow_schema'];
const level = ['priority_level'];

function named(name: string): string {
  return `apiserver_flowcontrol_${name}`;
}

/** Of API Priority and Fairness, as kube-apiserver 1.36.3 gives them. */
export const flow = {
  rejected: counter(
    named('rejected_requests_total'),
    '[BETA] Number of requests rejected by API Priority and Fairness subsystem',
    [...sorted, 'reason'],
  ),
  dispatched: counter(
    named('dispatched_requests_total'),
    '[BETA] Number of requests executed by API Priority and Fairness subsystem',
    sorted,
  ),
  waiting: gauge(
    named('current_inqueue_requests'),
    '[BETA] Number of requests currently pending in queues of the API Priority and Fairness subsystem',
    sorted,
  ),
  waitingSeats: gauge(
    named('current_inqueue_seats'),
    '[ALPHA] Number of seats currently pending in queues of the API Priority and Fairness subsystem',
    sorted,
  ),
  executing: gauge(
    named('current_executing_requests'),
    '[BETA] Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem',
    sorted,
  ),
  executingSeats: gauge(
    named('current_executing_seats'),
    '[BETA] Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem',
    sorted,
  ),
  waited: histogram(
    named('request_wait_duration_seconds'),
    '[BETA] Length of time a request spent waiting in its queue',
    [...sorted, 'execute'],
    [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
  ),
  nominal: gauge(
    named('nominal_limit_seats'),
    '[BETA] Nominal number of execution seats configured for each priority level',
    level,
  ),
  lower: gauge(
    named('lower_limit_seats'),
    '[ALPHA] Configured lower bound on number of execution seats available to each priority level',
    level,
  ),
  upper: gauge(
    named('upper_limit_seats'),
    '[ALPHA] Configured upper bound on number of execution seats available to each priority level',
    level,
  ),
} as const;
