import type { Bounds, LimitName } from '../cluster/limits.ts';
import type { Setting } from './authentication/settings.ts';
import { UsageError } from './errors.ts';

function row(flag: string, variable: string, placeholder: string, help: string): Setting {
  return {
    flag: `logical-cluster-max-${flag}`,
    variable: `ATOLL_LOGICAL_CLUSTER_MAX_${variable}`,
    placeholder,
    default: '0',
    help,
  };
}

/** Rows of the table of settings: what each logical cluster but root may use, where its Workspace does not say it. */
export const limitSettings = {
  logicalClusterMaxObjects: row(
    'objects',
    'OBJECTS',
    'N',
    'how many objects a logical cluster may store, those below it counted; 0: any number',
  ),
  logicalClusterMaxBytes: row('bytes', 'BYTES', 'SIZE', 'how many bytes, such as 64Mi; 0: any number'),
  logicalClusterMaxCustomResourceDefinitions: row(
    'custom-resource-definitions',
    'CUSTOM_RESOURCE_DEFINITIONS',
    'N',
    'how many CustomResourceDefinitions; 0: any number',
  ),
  logicalClusterMaxWebhooks: row('webhooks', 'WEBHOOKS', 'N', 'how many webhooks; 0: any number'),
  logicalClusterMaxRequestsPerSecond: row(
    'requests-per-second',
    'REQUESTS_PER_SECOND',
    'N',
    'how many requests a second, and twice as many at once; 0: any number',
  ),
  logicalClusterMaxWatches: row('watches', 'WATCHES', 'N', 'how many watches at a time; 0: any number'),
} satisfies Record<string, Setting>;

type Name = keyof typeof limitSettings;

const bounded: readonly (readonly [Name, LimitName])[] = [
  ['logicalClusterMaxObjects', 'objects'],
  ['logicalClusterMaxBytes', 'bytes'],
  ['logicalClusterMaxCustomResourceDefinitions', 'customResourceDefinitions'],
  ['logicalClusterMaxWebhooks', 'webhooks'],
  ['logicalClusterMaxRequestsPerSecond', 'requestsPerSecond'],
  ['logicalClusterMaxWatches', 'watches'],
];

/** `raw` has a setting's text. Throws UsageError. */
export function logicalClusterMax(raw: (name: Name) => string): { logicalClusterMax: Bounds } {
  const bounds: Bounds = {};
  for (const [name, limit] of bounded) {
    const most = amountOf(limitSettings[name], raw(name));
    if (most > 0) bounds[limit] = most;
  }
  return { logicalClusterMax: bounds };
}

function amountOf({ flag, placeholder }: Setting, text: string): number {
  const [, digits, unit = ''] = /^(\d{1,12})(Ki|Mi|Gi|)$/.exec(text) ?? [];
  if (digits === undefined || (unit !== '' && placeholder !== 'SIZE')) {
    const expected = placeholder === 'SIZE' ? 'a size such as 64Mi, or 0' : 'a whole number, 0 or more';
    throw new UsageError(`--${flag} ${text}: expected ${expected}`);
  }
  return Number(digits) * 1024 ** ['', 'Ki', 'Mi', 'Gi'].indexOf(unit);
}
