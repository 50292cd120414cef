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
const prefix = 'pod-security.kubernetes.io/';

export const auditPrefix: string = prefix;

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
  const read = (mode: string, ifWrong: Level): Standard & { said: boolean; dated: boolean } => {
    const [key, versionKey] = [`${prefix}${mode}`, `${prefix}${mode}-version`];
    const [level, version] = [own(labels, key), own(labels, versionKey)];
    return {
      level: level === undefined ? 'privileged' : (levelOf(level, key, causes) ?? ifWrong),
      minor: version === undefined ? Number.POSITIVE_INFINITY : minorOf(version, versionKey, causes),
      said: level !== undefined,
      dated: version !== undefined,
    };
  };
  const [enforce, audit, warn] = [
    read('enforce', 'restricted'),
    read('audit', 'privileged'),
    read('warn', 'privileged'),
  ];
  const policy = { enforce: bare(enforce), audit: bare(audit), warn: bare(warn) };
  const enforcesKnown = enforce.said && levels.includes(own(labels, `${prefix}enforce`) ?? '');
  // Whoever enforces warns of as much.
  if (!warn.said && enforcesKnown && isStricter(enforce.level, warn.level)) {
    policy.warn.level = enforce.level;
    if (!warn.dated) policy.warn.minor = enforce.minor;
  }
  return { policy, causes };
}

function bare({ level, minor }: Standard): Standard {
  return { level, minor };
}

function own(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function levelOf(level: string, key: string, causes: StatusCause[]): Level | undefined {
  if (levels.includes(level)) return level as Level;
  labelField(causes, key).invalid(level, `must be one of ${levels.join(', ')}`);
  return undefined;
}

function minorOf(version: string, key: string, causes: StatusCause[]): number {
  if (version === 'latest') return Number.POSITIVE_INFINITY;
  const minor = Number(/^v1\.(0|[1-9][0-9]*)$/.exec(version)?.[1] ?? Number.NaN);
  if (Number.isSafeInteger(minor)) return minor;
  labelField(causes, key).invalid(version, 'must be "latest" or "v1.x"');
  return Number.POSITIVE_INFINITY;
}

function labelField(causes: StatusCause[], key: string): Field {
  return new Field(causes).child('metadata', 'labels').key(key);
}
