import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiResponse } from '../../kube/http.ts';
import type { Store } from '../../storage/store.ts';
import type { Exchange } from '../core.ts';
import { text } from '../encode/text.ts';

const endpoints = ['healthz', 'livez', 'readyz'];
/** kube-apiserver's `--etcd-healthcheck-timeout`. A store goes on asking for longer: a probe does not wait for that. */
const storeMs = 2000;

/** A text is good, too, with something to say. */
type Check = (exchange: Exchange) => boolean | string | Promise<boolean | string>;

const checks: Readonly<Record<string, Check>> = {
  ping: () => true,
  store: async ({ core }) => {
    if (!(await answers(core.store))) return false;
    // Not a failure: whoever stopped to send requests here could not make room by deleting either.
    const { refusing } = core.store;
    return refusing === undefined || `creates and updates are refused: ${refusing}`;
  },
  shutdown: ({ core }) => !core.draining.aborted,
};

/** /healthz, /livez, /readyz, each also /<check>, with ?verbose and ?exclude. `undefined`: another path. */
export function handleHealth(exchange: Exchange): Promise<ApiResponse> | undefined {
  const [endpoint = '', check, ...more] = exchange.info.path.slice(1).split('/');
  if (!endpoints.includes(endpoint) || more.length > 0) return undefined;
  const all = [...Object.keys(checks), ...Object.keys(exchange.core.health)];
  const applicable = all.filter((name) => name !== 'shutdown' || endpoint === 'readyz');
  if (check !== undefined && !applicable.includes(check)) return undefined;
  return report(exchange, endpoint, check === undefined ? applicable : [check]);
}

async function report(exchange: Exchange, endpoint: string, names: readonly string[]): Promise<ApiResponse> {
  const { query } = exchange.info;
  const excluded = query.getAll('exclude');
  const lines: string[] = [];
  let healthy = true;
  for (const name of names) {
    if (excluded.includes(name)) {
      lines.push(`[+]${name} excluded: ok`);
      continue;
    }
    const good = await passes(exchange, name);
    exchange.core.observer?.checked?.(name, endpoint, good !== false);
    healthy &&= good !== false;
    const more = typeof good === 'string' ? `, ${good}` : '';
    lines.push(good !== false ? `[+]${name} ok${more}` : `[-]${name} failed: reason withheld`);
  }
  const unmatched = [...new Set(excluded)].filter((name) => !names.includes(name)).sort();
  if (unmatched.length > 0) {
    const quoted = unmatched.map((name) => JSON.stringify(name)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${quoted}`);
  }
  if (!healthy) return text(500, `${lines.join('\n')}\n${endpoint} check failed\n`);
  return text(200, query.has('verbose') ? `${lines.join('\n')}\n${endpoint} check passed\n` : 'ok');
}

async function answers(store: Store): Promise<boolean> {
  const timer = new AbortController();
  const late = sleep(storeMs, false, { signal: timer.signal }).catch(() => false);
  const answer = store.get('/ready').then(() => true);
  return Promise.race([answer, late]).finally(() => timer.abort());
}

async function passes(exchange: Exchange, name: string): Promise<boolean | string> {
  try {
    const more = exchange.core.health[name];
    if (more === undefined) return (await checks[name]?.(exchange)) ?? false;
    await more();
    return true;
  } catch {
    return false;
  }
}
