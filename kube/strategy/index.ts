import { deepEqual, sameJson } from '../deep.ts';
import { emptyStatus } from '../defaults/normalise.ts';
import { rootType } from '../defaults/shape.ts';
import type { KubeObject } from '../object.ts';
import { at } from '../untyped.ts';
import { dropDisabled } from './disabled.ts';
import type { KindInfo } from './kind.ts';
import { allMetadata, type KindRules, kindRules } from './kinds.ts';
import { narrowings } from './subresource.ts';

/** What a registry does to an object of one kind before it stores it. Both prepare functions mutate `object`. */
export interface Strategy {
  hasGeneration: boolean;
  /** Drops what a client may not set on create (status) and starts generation at 1; metadata.uid must be set. */
  prepareForCreate(object: KubeObject, warn?: (message: string) => void): void;
  /**
   * Keeps old status on the main endpoint (but for KindInfo's `statusWithRest`), all but status on `/status`, and what finalize, approval,
   * ephemeralcontainers and resize do not reach; bumps generation when the desired state changed.
   */
  prepareForUpdate(object: KubeObject, old: KubeObject, subresource?: string): void;
  /** Whether an update without resourceVersion is accepted. */
  allowUnconditionalUpdate: boolean;
  /** Whether a PUT to a missing name creates it. */
  allowCreateOnUpdate: boolean;
  /** Whether deletion waits for a grace period (Pods). */
  graceful?: boolean;
}

const phases: Record<string, string> = {
  Namespace: 'Active',
  PersistentVolume: 'Pending',
  PersistentVolumeClaim: 'Pending',
};

/**
 * The registry's rules for a built-in kind; for any other, those of a custom resource. Where that has no subresource for its status, the
 * status is a field as any: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#status-subresource
 */
export function strategyFor(info: KindInfo): Strategy {
  let strategy = strategies.get(info);
  if (strategy === undefined) {
    strategy = makeStrategy(info);
    strategies.set(info, strategy);
  }
  return strategy;
}

/** By what is served, which lives long. */
const strategies = new WeakMap<KindInfo, Strategy>();

/** Whoever writes the status of a custom resource is not refused for what else it says: that is as it was. */
const ofCustom = [...allMetadata, 'uid', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const;

function makeStrategy(info: KindInfo): Strategy {
  const root = rootType(info.group, info.version, info.kind);
  const custom: KindRules = { generation: ['spec'], conditionalOnly: true, statusKeeps: ofCustom };
  const rules = root ? (kindRules.get(`${info.group}/${info.kind}`) ?? {}) : custom;
  const ownsStatus = info.subresources?.some(({ name }) => name === 'status') !== false;
  const keepsStatus = ownsStatus && info.statusWithRest !== true;
  const changed = root ? changedParts(rules) : changedCustom(ownsStatus);
  return {
    hasGeneration: rules.generation !== undefined,
    allowUnconditionalUpdate: !rules.conditionalOnly,
    allowCreateOnUpdate: rules.createOnUpdate ?? false,
    ...(rules.graceful && { graceful: true }),
    prepareForCreate(object, warn = () => {}) {
      const { metadata } = object;
      // To delete what is not there costs something, too.
      if (metadata.deletionTimestamp !== undefined) delete metadata.deletionTimestamp;
      if (metadata.deletionGracePeriodSeconds !== undefined) delete metadata.deletionGracePeriodSeconds;
      if (rules.generation && !rules.noFirstGeneration) object.metadata.generation = 1;
      if (!rules.ownStatus) {
        const status = emptyStatus(root);
        const phase = info.group === '' ? phases[info.kind] : undefined;
        if (status) object.status = phase === undefined ? status : { ...status, phase };
        else if (!root && ownsStatus) delete object.status;
      }
      if (root) dropDisabled(object, info);
      rules.create?.(object, warn);
    },
    prepareForUpdate(object, old, subresource) {
      keep(object.metadata, old.metadata, 'generation');
      if (subresource === 'status') return prepareStatus(object, old, rules);
      const narrow = subresource !== undefined && Object.hasOwn(narrowings, subresource);
      if (narrow) {
        narrowings[subresource]?.(object, old);
        return;
      }
      if (root === undefined ? keepsStatus : emptyStatus(root)) keep(object, old, 'status');
      if (root) dropDisabled(object, info);
      rules.update?.(object, old);
      if (rules.generation && changed(object, old)) {
        object.metadata.generation = (old.metadata.generation ?? 0) + 1;
      }
    },
  };
}

function keep<T extends object>(object: T, old: T, field: keyof T): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

function prepareStatus(object: KubeObject, old: KubeObject, rules: KindRules): void {
  for (const field of new Set([...Object.keys(old), ...Object.keys(object)])) {
    if (!['metadata', 'status', 'apiVersion', 'kind'].includes(field)) keep(object, old, field);
  }
  for (const field of rules.statusKeeps ?? []) keep(object.metadata, old.metadata, field);
  rules.updateStatus?.(object, old);
}

function changedParts(rules: KindRules): (object: KubeObject, old: KubeObject) => boolean {
  const paths = (rules.generation ?? []).map((part) => (typeof part === 'string' ? [part] : part));
  return (object, old) => paths.some((path) => !sameJson(at(object, ...path), at(old, ...path)));
}

/** All of a custom resource but its metadata, and a status that has writes of its own, is desired state, where a null is something. */
function changedCustom(ownsStatus: boolean): (object: KubeObject, old: KubeObject) => boolean {
  const desired = ({ metadata: _metadata, status, ...rest }: KubeObject) => [rest, ownsStatus || status];
  return (object, old) => !deepEqual(desired(object), desired(old));
}
