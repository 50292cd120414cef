import type { ReflectedKind } from '../../cluster/reflected.ts';
import type { ObjectRef } from '../../cluster/types.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Store } from '../../storage/store.ts';
import type { Controlled } from './controlled.ts';
import type { FormerTemplates } from './former-templates.ts';
import type { SliceAddress } from './slices.ts';

/** All that a reflection is made from. */
export interface Making {
  store: Store;
  kind: ReflectedKind;
  address: SliceAddress;
  /** What the syncer sent: untrusted. */
  body: Record<string, unknown>;
  before: KubeObject | undefined;
  /** The objects that the cluster has a share of in this namespace, by uid. */
  owners: ReadonlyMap<string, ObjectRef>;
  formers: FormerTemplates;
  controlled: Controlled;
}
