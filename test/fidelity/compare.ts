import type { Json } from '../../kube/object.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Comparable } from './normalise.ts';

export interface Difference {
  /** `status`, `headers.warning`, `body.spec.ports[].name`: positions in lists are left out. */
  path: string;
  kubernetes: string;
  atoll: string;
}

/** Every leaf that differs, at most `most`. */
export function compare(kubernetes: Comparable, atoll: Comparable, most = 200): Difference[] {
  const found: Difference[] = [];
  const differing = kubernetes.status !== atoll.status;
  if (differing) {
    // The rest follows from it: one difference, with what each says.
    found.push({
      path: 'status',
      kubernetes: `${kubernetes.status} ${messageOf(kubernetes.body)}`,
      atoll: `${atoll.status} ${messageOf(atoll.body)}`,
    });
    return found;
  }
  walk(kubernetes.headers, atoll.headers, 'headers', found);
  if (kubernetes.layout !== atoll.layout) {
    found.push({ path: 'layout', kubernetes: kubernetes.layout, atoll: atoll.layout });
  }
  if (sameCauses(kubernetes.body, atoll.body)) {
    walk(withoutMessage(kubernetes.body), withoutMessage(atoll.body), 'body', found);
  } else walk(kubernetes.body, atoll.body, 'body', found);
  return found.slice(0, most);
}

function messageOf(body: Json): string {
  return isRecord(body) && typeof body['message'] === 'string' ? short(body['message']) : '';
}

/** The message of an Invalid lists its causes, in an order that Go's maps make random. */
function sameCauses(a: Json, b: Json): boolean {
  const causes = (body: Json) =>
    isRecord(body) && isRecord(body['details']) && Array.isArray(body['details']['causes'])
      ? body['details']['causes']
      : undefined;
  const [left, right] = [causes(a), causes(b)];
  return left !== undefined && left.length > 1 && JSON.stringify(left) === JSON.stringify(right);
}

function withoutMessage(body: Json): Json {
  return isRecord(body) ? ({ ...body, message: '' } as Json) : body;
}

function walk(a: Json | undefined, b: Json | undefined, path: string, into: Difference[]): void {
  if (into.length > 200) return;
  if (Array.isArray(a) && Array.isArray(b)) {
    walkLists(a, b, path, into);
    return;
  }
  if (isRecord(a) && isRecord(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const [left, right] = [a, b].map((o) => (Object.hasOwn(o, key) ? (o[key] as Json) : undefined));
      walk(left, right, `${path}.${key}`, into);
    }
    return;
  }
  if (a !== b) into.push({ path, kubernetes: short(a), atoll: short(b) });
}

function walkLists(a: Json[], b: Json[], path: string, into: Difference[]): void {
  if (a.length === b.length) {
    for (const [i, item] of a.entries()) walk(item, b[i], `${path}[]`, into);
    return;
  }
  const [left, right] = [a, b].map((list) => list.map((item) => JSON.stringify(item)));
  const onlyA = a.filter((_, i) => !right?.includes(left?.[i] ?? ''));
  const onlyB = b.filter((_, i) => !left?.includes(right?.[i] ?? ''));
  const text = (items: Json[], count: number) => `${count} items; only here: ${short(items.map(gist))}`;
  into.push({ path: `${path}.length`, kubernetes: text(onlyA, a.length), atoll: text(onlyB, b.length) });
}

/** An item by its name, where it has one. */
function gist(item: Json): Json {
  if (!isRecord(item)) return item;
  const meta = isRecord(item['metadata']) ? item['metadata'] : item;
  if (typeof item['type'] === 'string' && isRecord(item['object']))
    return `${item['type']} ${short(item['object'] as Json)}`;
  return (meta['name'] as Json) ?? item;
}

function short(value: Json | undefined): string {
  const text =
    value === undefined ? '(absent)' : typeof value === 'string' ? value : JSON.stringify(value, big);
  return text.length > 6000 ? `${text.slice(0, 6000)}…` : text;
}

function big(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
