const unsafeDelete = 'ignoreStoreReadErrorWithClusterBreakingPotential';

const paging = [
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
];
const listing = [...paging, 'sendInitialEvents', 'shardSelector', 'timeoutSeconds'];
const deleting = ['dryRun', 'gracePeriodSeconds', unsafeDelete, 'orphanDependents', 'propagationPolicy'];
const watching = ['allowWatchBookmarks', ...listing, 'watch'];

/** The query parameters of each verb, but for `pretty`, which all have. */
export const queries: Readonly<Record<string, readonly string[]>> = {
  list: watching,
  watch: watching,
  watchlist: watching,
  create: ['dryRun', 'fieldManager', 'fieldValidation'],
  update: ['dryRun', 'fieldManager', 'fieldValidation'],
  patch: ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
  delete: deleting,
  deletecollection: [...deleting, ...listing],
};

/** What the documents of custom resources say in their place. */
export const customQueries: typeof queries = {
  ...queries,
  get: ['resourceVersion'],
  deletecollection: watching,
};

const streams = ['stderr', 'stdin', 'stdout', 'tty'];

/** The query parameters of a subresource that is read or connected to, by the kind of its options. */
export const options: Readonly<Record<string, readonly string[]>> = {
  PodLogOptions: [
    'container',
    'follow',
    'insecureSkipTLSVerifyBackend',
    'limitBytes',
    'pretty',
    'previous',
    'sinceSeconds',
    'stream',
    'tailLines',
    'timestamps',
  ],
  PodAttachOptions: ['container', ...streams],
  PodExecOptions: ['command', 'container', ...streams],
  PodPortForwardOptions: ['ports'],
  PodProxyOptions: ['path'],
  ServiceProxyOptions: ['path'],
  NodeProxyOptions: ['path'],
};

const booleans = [
  'allowWatchBookmarks',
  'follow',
  'force',
  unsafeDelete,
  'insecureSkipTLSVerifyBackend',
  'orphanDependents',
  'previous',
  'sendInitialEvents',
  ...streams,
  'timestamps',
  'watch',
];
const integers = [
  'gracePeriodSeconds',
  'limit',
  'limitBytes',
  'ports',
  'sinceSeconds',
  'tailLines',
  'timeoutSeconds',
];

/** The JSON type of a parameter, by its name. */
export function typeOf(name: string): string {
  return booleans.includes(name) ? 'boolean' : integers.includes(name) ? 'integer' : 'string';
}
