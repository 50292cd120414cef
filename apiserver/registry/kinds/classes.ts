import { systemPriority } from '../../../kube/priority-classes.ts';
import { forbidden, type GroupResource } from '../../../kube/status.ts';
import { classResource } from '../classes.ts';
import { isWriting, showNamesake } from './default-objects.ts';
import type { KindHooks } from './hooks.ts';

export const classHooks: KindHooks = {
  prepare(write, object, old) {
    const own = old !== undefined || isWriting(write.registry, write.cluster, 'priorityclasses');
    return own ? undefined : showNamesake(write, 'priorityclasses', object);
  },
};

/** kube-apiserver asks this of one that is deleted by its name, and not of a collection. */
export function checkClassDeletable({ group, resource }: GroupResource, name: string): void {
  if (classResource(group, resource) === undefined || systemPriority(name) === undefined) return;
  throw forbidden({ group, resource }, name, 'this is a system priority class and cannot be deleted');
}
