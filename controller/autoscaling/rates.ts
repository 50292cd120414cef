import type { Behavior, Rules } from './types.ts';

interface Stamped {
  at: number;
  replicas: number;
}

/** What was recommended and done of late; not stored: whoever takes over begins with what is there, as Kubernetes does. */
export interface History {
  recommended: Stamped[];
  ups: Stamped[];
  downs: Stamped[];
}

/** Why it is that many, as a condition says it. */
export interface Normalised {
  replicas: number;
  able: { reason: string; message: string };
  limited: { isLimited: boolean; reason: string; message: string };
}

export interface Recommendation {
  current: number;
  wanted: number;
  min: number;
  max: number;
  behavior: Behavior | undefined;
  now: number;
}

/** The longest that the API lets either look back. */
const longestWindowMs = 3600_000;
const longestPeriodMs = 1800_000;
/** An hour of passes has 240; a user may have it look more often. */
const mostRecommended = 1_000;
const defaultDownWindow = 300;
const ready = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
const within = {
  isLimited: false,
  reason: 'DesiredWithinRange',
  message: 'the desired count is within the acceptable range',
};
const tooFast = (word: string) => `the desired replica count is ${word} faster than the maximum scale rate`;
const tooMany = 'the desired replica count is more than the maximum replica count';
const tooFew = 'the desired replica count is less than the minimum replica count';

/**
 * What the metrics ask for, steadied over the windows, no faster than the policies allow and within the bounds. Notes the
 * recommendation. As normalizeDesiredReplicas(WithBehaviors) in pkg/controller/podautoscaler/horizontal.go.
 */
export function normalise(history: History, asked: Recommendation): Normalised {
  history.recommended = history.recommended.slice(-mostRecommended);
  const stable = stabilised(history, asked);
  history.recommended = [
    ...history.recommended.filter(({ at }) => at > asked.now - longestWindowMs),
    { at: asked.now, replicas: asked.wanted },
  ];
  const limited = limit(history, { ...asked, wanted: stable.replicas });
  return { ...limited, able: stable.able };
}

/** After it was carried out. */
export function noteScale(history: History, from: number, to: number, now: number): void {
  const list = to > from ? history.ups : history.downs;
  list.splice(0, list.length, ...list.filter(({ at }) => at > now - longestPeriodMs));
  list.push({ at: now, replicas: Math.abs(to - from) });
}

function stabilised(history: History, { current, wanted, behavior, now }: Recommendation) {
  const since = (seconds: number) =>
    history.recommended.filter(({ at }) => at > now - seconds * 1000).map(({ replicas }) => replicas);
  const down = behavior?.scaleDown?.stabilizationWindowSeconds ?? defaultDownWindow;
  const up = behavior?.scaleUp?.stabilizationWindowSeconds ?? 0;
  const [least, most] = [Math.min(wanted, ...since(up)), Math.max(wanted, ...since(down))];
  const replicas = behavior ? Math.min(Math.max(current, least), most) : most;
  if (replicas === wanted) return { replicas, able: ready };
  const [way, extreme, other] =
    behavior && wanted >= current ? ['Up', 'lowest', 'lower'] : ['Down', 'highest', 'higher'];
  const message = `recent recommendations were ${other} than current one, applying the ${extreme} recent recommendation`;
  return { replicas, able: { reason: `Scale${way}Stabilized`, message } };
}

function limit(history: History, asked: Recommendation): Omit<Normalised, 'able'> {
  const { current, wanted, min, max, behavior } = asked;
  const limited = (replicas: number, reason: string, message: string) => ({
    replicas,
    limited: { isLimited: true, reason, message },
  });
  if (!behavior) {
    const fastest = Math.max(2 * current, 4);
    if (wanted < min) return limited(min, 'TooFewReplicas', tooFew);
    if (wanted > Math.min(max, fastest))
      return max > fastest
        ? limited(fastest, 'ScaleUpLimit', tooFast('increasing'))
        : limited(max, 'TooManyReplicas', tooMany);
  } else if (wanted > current) {
    const fastest = Math.max(current, upLimit(history, asked, behavior.scaleUp));
    if (wanted > Math.min(max, fastest))
      return max > fastest
        ? limited(fastest, 'ScaleUpLimit', tooFast('increasing'))
        : limited(max, 'TooManyReplicas', tooMany);
  } else if (wanted < current) {
    const fastest = Math.min(current, downLimit(history, asked, behavior.scaleDown));
    if (wanted < Math.max(min, fastest))
      return min < fastest
        ? limited(fastest, 'ScaleDownLimit', tooFast('decreasing'))
        : limited(min, 'TooFewReplicas', tooFew);
  }
  return { replicas: wanted, limited: within };
}

const defaultUp = [
  { type: 'Pods', value: 4, periodSeconds: 15 },
  { type: 'Percent', value: 100, periodSeconds: 15 },
];
const defaultDown = [{ type: 'Percent', value: 100, periodSeconds: 15 }];

function upLimit(history: History, asked: Recommendation, rules: Rules = {}): number {
  const { policies = defaultUp, selectPolicy = 'Max' } = rules;
  if (selectPolicy === 'Disabled') return asked.current;
  const limits = policies.map(({ type, value, periodSeconds }) => {
    const start = startOf(history, asked, periodSeconds);
    return type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100));
  });
  return selectPolicy === 'Min' ? Math.min(...limits) : Math.max(...limits);
}

function downLimit(history: History, asked: Recommendation, rules: Rules = {}): number {
  const { policies = defaultDown, selectPolicy = 'Max' } = rules;
  if (selectPolicy === 'Disabled') return asked.current;
  const limits = policies.map(({ type, value, periodSeconds }) => {
    const start = startOf(history, asked, periodSeconds);
    return type === 'Pods' ? start - value : Math.trunc(start * (1 - value / 100));
  });
  return selectPolicy === 'Min' ? Math.max(...limits) : Math.min(...limits);
}

/** How many there were when the period began. */
function startOf({ ups, downs }: History, { current, now }: Recommendation, seconds: number): number {
  const sum = (list: readonly Stamped[]) =>
    list.reduce((all, { at, replicas }) => (at > now - seconds * 1000 ? all + replicas : all), 0);
  return current - sum(ups) + sum(downs);
}
