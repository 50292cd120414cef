import { record } from '../../untyped.ts';
import type { SubresourceCheck } from '../kind.ts';
import { changedNode } from '../node.ts';

const node: SubresourceCheck = (object, old, root) =>
  changedNode(object, record(object.spec), record(old.spec), root);

export const nodeStatuses: Readonly<Record<string, SubresourceCheck>> = { '/Node/status': node };
