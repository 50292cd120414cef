import type { Wish } from './wishes.ts';

export function hasRoomFor(room: number, total: number): string {
  return `it has room for ${room} of its ${total} pods`;
}

function many(pods: number): string {
  return pods === 1 ? '1 pod' : `${pods} pods`;
}

export function whyOf(
  name: string,
  n: number,
  from: {
    wish: Wish;
    filled: ReadonlyMap<string, number>;
    home: string;
    short: number;
    keeps: string | undefined;
  },
): string {
  const { wish, filled, home, short, keeps } = from;
  if (filled.size === 1 && short === 0)
    return `all of it has room there; ${wish.overflowsBy} lets it overflow`;
  if (name === keeps) return `one pod stays until a tenth of the room on ${home} stays free`;
  if (name !== home) return `it takes ${many(n)} that ${n === 1 ? 'has' : 'have'} no room on ${home}`;
  return `it takes ${many(n)}${short > 0 ? `, ${short} more than there is room for anywhere` : ''}`;
}
