import type { KubeObject } from '../object.ts';

/** Kubernetes' own, which have no prefix. */
const standard: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** About a valid custom resource: its new finalizers without a path, which others may have, too. */
export function finalizerWarnings({ metadata }: KubeObject, old: KubeObject | undefined): string[] {
  const before = new Set(old?.metadata.finalizers);
  const added = new Set(metadata.finalizers?.filter((name) => !before.has(name)));
  return [...added]
    .filter((name) => !name.includes('/') && !standard.has(name))
    .sort()
    .map((name) => {
      const better = `a domain-qualified finalizer name${name.includes('.') ? ' including a path (/)' : ''}`;
      return `metadata.finalizers: "${name}": prefer ${better} to avoid accidental conflicts with other finalizer writers`;
    });
}
