import type { StatusCause } from '../status.ts';
import { Field } from '../validation/field.ts';

/** https://kubernetes.io/docs/concepts/security/pod-security-standards/ */
export type Level = 'privileged' | 'baseline' | 'restricted';

/** What pods are judged by. `minor` of Kubernetes 1.x; Infinity: the latest. */
export interface Standard {
  level: Level;
  minor: number;
}

export interface PodSecurity {
  /** What pods may not violate. */
  enforce: Standard;
  /** What is recorded. */
  audit: Standard;
  /** What whoever writes is warned of. */
  warn: Standard;
}

const levels: readonly string[] = ['privileged', 'baseline', 'restricted'];
/** Of its labels, and of what it has audits say. */
export const podSecurityPrefix = 'pod-security.kubernetes.io/';

/** As messages name it: `baseline:v1.30`, `restricted:latest`. */
export function standardName({ level, minor }: Standard): string {
  return `${level}:${Number.isFinite(minor) ? `v1.${minor}` : 'latest'}`;
}

export function sameStandard(a: Standard, b: Standard): boolean {
  return a.level === b.level && a.minor === b.minor;
}

export function isStricter(a: Level, b: Level): boolean {
  return levels.indexOf(a) > levels.indexOf(b);
}

/**
 * What a Namespace's labels say; where they say nothing, everything is allowed. What cannot be read is a cause, and is judged
 * strictly where it is enforced, and not at all where it is only told.
 * https://kubernetes.io/docs/concepts/security/pod-security-admission/#pod-security-admission-labels-for-namespaces
 */
export function podSecurityOf(labels: Readonly<Record<string, string>> = {}): {
  policy: PodSecurity;
  causes: StatusCause[];
} {
  const causes: StatusCause[] = [];
  const said = (label: string) => own(labels, podSecurityPrefix + label);
  const read = (mode: string, ifWrong: Level): Standard => {
    const [level, version] = [said(mode), said(`${mode}-version`)];
    return {
      level: level === undefined ? 'privileged' : (levelOf(level, mode, causes) ?? ifWrong),
      minor: version === undefined ? Number.POSITIVE_INFINITY : minorOf(version, `${mode}-version`, causes),
    };
  };
  const policy = {
    enforce: read('enforce', 'restricted'),
    audit: read('audit', 'privileged'),
    warn: read('warn', 'privileged'),
  };
  const { enforce, warn } = policy;
  const enforcesKnown = said('enforce') === enforce.level;
  // Whoever enforces warns of as much.
  if (said('warn') === undefined && enforcesKnown && isStricter(enforce.level, warn.level)) {
    warn.level = enforce.level;
    if (said('warn-version') === undefined) warn.minor = enforce.minor;
  }
  return { policy, causes };
}

function own(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function levelOf(level: string, label: string, causes: StatusCause[]): Level | undefined {
  if (levels.includes(level)) return level as Level;
  labelField(causes, label).invalid(level, `must be one of ${levels.join(', ')}`);
  return undefined;
}

function minorOf(version: string, label: string, causes: StatusCause[]): number {
  if (version === 'latest') return Number.POSITIVE_INFINITY;
  const minor = Number(/^v1\.(0|[1-9][0-9]*)$/.exec(version)?.[1] ?? Number.NaN);
  if (Number.isSafeInteger(minor)) return minor;
  labelField(causes, label).invalid(version, 'must be "latest" or "v1.x"');
  return Number.POSITIVE_INFINITY;
}

function labelField(causes: StatusCause[], label: string): Field {
  return new Field(causes).child('metadata', 'labels').key(podSecurityPrefix + label);
}
