import { type LookupAddress, lookup } from 'node:dns';
import type http from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type EgressPolicy, type EgressRules, policyOf, type Refusal, refusalOf } from './decide.ts';

/** Nobody was connected to. */
export class EgressError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`the address is not allowed (--egress-allow): ${refusal}`);
    this.refusal = refusal;
  }
}

interface EgressOptions extends EgressRules {
  /** Ports at which this server listens in another process. */
  ports: readonly number[];
  /** What is dialled although it is refused to others. */
  pardoned?: readonly Refusal[];
}

/** Which names are asked for; a test has its own. */
type Resolver = typeof lookup;

/**
 * The one way to addresses that users name. What a name resolves to is looked at and then connected to, without asking
 * again; the name stays what the other end must prove.
 */
export class Egress {
  readonly #policy: EgressPolicy;
  readonly #ports: Set<number>;
  readonly #resolve: Resolver;

  constructor(options: EgressOptions = { allow: [], deny: [], ports: [] }, resolve: Resolver = lookup) {
    this.#policy = policyOf(options, options.pardoned);
    this.#ports = new Set(options.ports.filter((port) => port > 0));
    this.#resolve = resolve;
  }

  /** This server listens at that port, too. */
  addPort(port: number): void {
    this.#ports.add(port);
  }

  /** Has the agent connect only where that is allowed. A request that is refused fails with EgressError. */
  guard<A extends http.Agent>(agent: A): A {
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (options, callback) => {
      const { host = '', port } = options as { host?: string; port?: number | string };
      const refusal = isIP(host) === 0 ? undefined : this.#refusal(host, Number(port));
      if (refusal !== undefined) {
        callback?.(new EgressError(refusal), undefined as never);
        return undefined;
      }
      return connect({ ...options, lookup: this.#lookupFor(Number(port)) }, callback);
    };
    return agent;
  }

  #lookupFor(port: number): LookupFunction {
    return (hostname, options, callback) => {
      this.#resolve(hostname, { ...options, all: true }, (error, addresses) => {
        if (error) return callback(error, '', 0);
        const [allowed, refusal] = this.#sift(addresses, port);
        const [first] = allowed;
        if (first === undefined) return callback(new EgressError(refusal ?? 'denied'), '', 0);
        if (options.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      });
    };
  }

  #sift(addresses: readonly LookupAddress[], port: number): [LookupAddress[], Refusal | undefined] {
    let refusal: Refusal | undefined;
    const allowed = addresses.filter(({ address }) => {
      const why = this.#refusal(address, port);
      refusal ??= why;
      return why === undefined;
    });
    return [allowed, refusal];
  }

  #refusal(address: string, port: number): Refusal | undefined {
    const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const own = { ports: this.#ports, addresses: interfaces.map((one) => one.address) };
    return refusalOf(address, port, this.#policy, own);
  }
}
