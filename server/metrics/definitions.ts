import { commitBounds } from '../../storage/measures.ts';
import { conversions } from './conversion-definitions.ts';
import { counter, gauge, histogram } from './define.ts';
import { encryption } from './encryption-definitions.ts';
import type { Definition } from './family.ts';
import { flow } from './flow-definitions.ts';
import { slis } from './sli-definitions.ts';
import { tracing } from './tracing-definitions.ts';

const resource = ['group', 'version', 'resource', 'subresource', 'scope', 'component'];
const seconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const queueSeconds = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10];
const queue = ['name'];

/** Kubernetes' own, as kube-apiserver 1.36.3 gives them: names, types, labels, helps and bounds. */
export const borrowed = {
  requests: counter(
    'apiserver_request_total',
    '[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
    ['verb', 'dry_run', ...resource, 'code'],
  ),
  durations: histogram(
    'apiserver_request_duration_seconds',
    '[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
    ['verb', 'dry_run', ...resource],
    seconds,
  ),
  sizes: histogram(
    'apiserver_response_sizes',
    '[STABLE] Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.',
    ['verb', ...resource],
    [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
  ),
  inFlight: gauge(
    'apiserver_current_inflight_requests',
    '[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in last second.',
    ['request_kind'],
  ),
  lasting: gauge(
    'apiserver_longrunning_requests',
    '[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.',
    ['verb', ...resource],
  ),
  terminations: counter(
    'apiserver_request_terminations_total',
    '[ALPHA] Number of requests which apiserver terminated in self-defense.',
    ['verb', ...resource, 'code'],
  ),
  watchEvents: counter('apiserver_watch_events_total', '[ALPHA] Number of events sent in watch clients', [
    'group',
    'version',
    'resource',
  ]),
  auditEvents: counter(
    'apiserver_audit_event_total',
    '[ALPHA] Counter of audit events generated and sent to the audit backend.',
    [],
  ),
  auditLevels: counter(
    'apiserver_audit_level_total',
    '[ALPHA] Counter of policy levels for audit events (1 per request).',
    ['level'],
  ),
  auditErrors: counter(
    'apiserver_audit_error_total',
    '[ALPHA] Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.',
    ['plugin'],
  ),
  auditRejected: counter(
    'apiserver_audit_requests_rejected_total',
    '[ALPHA] Counter of apiserver requests rejected due to an error in audit logging backend.',
    [],
  ),
  objects: gauge(
    'apiserver_resource_objects',
    '[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.',
    ['group', 'resource'],
  ),
  objectsOfBefore: gauge(
    'apiserver_storage_objects',
    '[STABLE] (Deprecated since 1.34.0) [DEPRECATED, consider using apiserver_resource_objects instead] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.',
    ['resource'],
  ),
  bytes: gauge(
    'apiserver_storage_size_bytes',
    '[STABLE] Size of the storage database file physically allocated in bytes.',
    ['storage_cluster_id'],
  ),
  depth: gauge('workqueue_depth', '[BETA] Current depth of workqueue', queue),
  adds: counter('workqueue_adds_total', '[BETA] Total number of adds handled by workqueue', queue),
  retries: counter('workqueue_retries_total', '[BETA] Total number of retries handled by workqueue', queue),
  waited: histogram(
    'workqueue_queue_duration_seconds',
    '[BETA] How long in seconds an item stays in workqueue before being requested.',
    queue,
    queueSeconds,
  ),
  worked: histogram(
    'workqueue_work_duration_seconds',
    '[BETA] How long in seconds processing an item from workqueue takes.',
    queue,
    queueSeconds,
  ),
  unfinished: gauge(
    'workqueue_unfinished_work_seconds',
    "[BETA] How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
    queue,
  ),
  longest: gauge(
    'workqueue_longest_running_processor_seconds',
    '[BETA] How many seconds has the longest running processor for workqueue been running.',
    queue,
    'max',
  ),
} as const;

export const own = {
  etcdBytes: gauge(
    'etcd_db_total_size_in_bytes',
    'Size of the store, under the name that dashboards of Kubernetes know.',
    ['endpoint'],
  ),
  placements: gauge('atoll_placements', 'Placements by their state, as kubectl shows it.', ['state']),
  shares: gauge('atoll_placement_shares', 'Shares of placed objects by phase.', ['phase']),
  handovers: gauge('atoll_handovers', 'Placed objects that are where they are about to leave.', []),
  oldestHandover: gauge(
    'atoll_handover_oldest_seconds',
    'How long the oldest of the hand-overs under way has been.',
    [],
    'max',
  ),
  connected: gauge('atoll_syncer_connected', 'Whether a physical cluster is Ready: its syncer reaches it.', [
    'physical_cluster',
  ]),
  silence: gauge(
    'atoll_syncer_silence_seconds',
    'Seconds since the syncer of a physical cluster said something: up to thirty where all is well.',
    ['physical_cluster'],
  ),
  credentials: gauge(
    'atoll_physical_cluster_credentials_expiration_timestamp_seconds',
    "When the certificate or the token in a physical cluster's kubeconfig expires, the first of them, in seconds since 1970.",
    ['physical_cluster'],
    'first',
  ),
  leader: gauge('atoll_leader', 'Whether this server leads: 1 for each lease that it holds, else 0.', [
    'lease',
  ]),
  pending: gauge(
    'atoll_store_pending_writes',
    'Writes that the store accepted, whose outcome is not known yet.',
    [],
  ),
  commits: histogram(
    'atoll_store_commit_duration_seconds',
    'Seconds until what was written together was durable.',
    [],
    commitBounds,
  ),
  revision: gauge('atoll_store_revision', 'The newest revision of the store.', []),
  refusing: gauge('atoll_store_refusing', '1 while creates and updates are refused, as on a full disk.', []),
  watchers: gauge('atoll_watch_watchers', 'Watchers of the store: live, or behind and reading history.', [
    'state',
  ]),
  cut: counter('atoll_watch_cut_total', 'Watches ended because their reader left too much waiting.', []),
  expirations: gauge(
    'atoll_certificate_expiration_timestamp_seconds',
    'When a certificate of the server expires, in seconds since 1970.',
    ['certificate'],
    'first',
  ),
  answered: gauge(
    'atoll_process_answered',
    'Of each process of the server, whether what it counts is in this scrape: 0: it did not answer in time, and its counters are those of before.',
    ['process'],
    'first',
  ),
} as const;

export const definitions: readonly Definition[] = [
  ...Object.values(borrowed),
  ...Object.values(flow),
  ...Object.values(encryption),
  ...Object.values(conversions),
  ...Object.values(tracing),
  ...Object.values(slis),
  ...Object.values(own),
];
