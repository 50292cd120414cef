import type { EncryptionConfiguration } from './types.ts';

/** Either may be `*`. */
interface GroupResource {
  group: string;
  resource: string;
}

/** `secrets`, `deployments.apps`, `*.` (the core group), `*.apps`, `*.*`. */
export function parseGroupResource(text: string): GroupResource {
  const dot = text.indexOf('.');
  if (dot < 0) return { group: '', resource: text };
  return { group: text.slice(dot + 1), resource: text.slice(0, dot) };
}

export function formatGroupResource({ group, resource }: GroupResource): string {
  return group === '' && resource !== '*' ? resource : `${resource}.${group}`;
}

/** Throws Error where an earlier rule leaves nothing to a later one. */
export function checkMasked({ resources }: EncryptionConfiguration): void {
  const seen = new Set<string>();
  for (const rule of resources) {
    for (const text of rule.resources) {
      const { group, resource } = parseGroupResource(text);
      for (const earlier of [formatGroupResource({ group, resource: '*' }), '*.*']) {
        if (!seen.has(earlier)) continue;
        const name = formatGroupResource({ group, resource });
        throw new Error(
          `error while building transformers: resource "${name}" is masked by earlier rule "${earlier}"`,
        );
      }
      seen.add(formatGroupResource({ group, resource }));
    }
  }
}
