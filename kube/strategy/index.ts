import type { KubeObject } from '../object.ts';
import type { KindInfo } from './kind.ts';

/** What a registry does to an object of one kind before it stores it. Both prepare functions mutate `object`. */
export interface Strategy {
  hasGeneration: boolean;
  /** Drops what a client may not set on create (status) and starts generation at 1. */
  prepareForCreate(object: KubeObject): void;
  /** Keeps old status on the main endpoint, all but status on `/status`; bumps generation when the desired state changed. */
  prepareForUpdate(object: KubeObject, old: KubeObject, subresource?: string): void;
  /** Whether an update without resourceVersion is accepted. */
  allowUnconditionalUpdate: boolean;
  /** Whether a PUT to a missing name creates it. */
  allowCreateOnUpdate: boolean;
  /** Whether deletion waits for a grace period (Pods). */
  graceful?: boolean;
}

export function strategyFor(_info: KindInfo): Strategy {
  return {
    hasGeneration: false,
    prepareForCreate() {},
    prepareForUpdate() {},
    allowUnconditionalUpdate: true,
    allowCreateOnUpdate: false,
  };
}
