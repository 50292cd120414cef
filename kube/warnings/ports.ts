export interface Port {
  where: string;
  hostIP: string;
  hostPort: number;
}

/** More than are ever told: of n ports that are one, there are n * n / 2 pairs. */
const mostPairs = 256;

interface Taken extends Port {
  order: number;
}

function conflict(a: Port, b: Port): string {
  if (a.hostIP === b.hostIP && a.hostPort === b.hostPort) return 'duplicate port definition with';
  if (a.hostPort === 0 || b.hostPort === 0) return 'overlapping port definition with';
  return 'dangerously ambiguous port definition with';
}

/** The ports of a pod so far. Those that are not in each other's way do not meet: what is told takes as long as there are ports. */
export class TakenPorts {
  /** By container port and protocol, port of the host, and its address. */
  readonly #at = new Map<string, Taken[]>();
  #order = 0;
  #told = 0;

  /** What is in the way of that port, from the first to the last; of all ports together no more than anybody reads. */
  take(key: string, port: Port): string[] {
    const { hostIP, hostPort } = port;
    const at = (place: string) => this.#at.get(`${key} ${place}`) ?? [];
    const others =
      hostPort === 0
        ? at('all')
        : [
            ...at('0'),
            ...(hostIP === '' ? at(`${hostPort}`) : [...at(`${hostPort} `), ...at(`${hostPort} ${hostIP}`)]),
          ];
    const found = others
      .sort((a, b) => a.order - b.order)
      .slice(0, mostPairs - this.#told)
      .map((other) => `${conflict(port, other)} ${other.where}`);
    this.#told += found.length;
    const taken = { ...port, order: this.#order++ };
    for (const place of ['all', `${hostPort}`, `${hostPort} ${hostIP}`]) this.#add(`${key} ${place}`, taken);
    return found;
  }

  #add(place: string, taken: Taken): void {
    const own = this.#at.get(place);
    if (own === undefined) this.#at.set(place, [taken]);
    else if (own.length < mostPairs) own.push(taken);
  }
}
