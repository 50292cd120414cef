import { isRecord } from '../../kube/untyped.ts';

/** A webhook's clientConfig: where to POST. Either `url` or `service` is set. */
export interface ClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path: string; port: number };
  /** PEM; absent: the system's authorities. */
  ca?: string;
}

/** What a client of ours wrote, already validated. */
export function clientConfigOf(raw: unknown): ClientConfig {
  if (!isRecord(raw)) return {};
  const config: ClientConfig = {};
  const { url, service, caBundle } = raw;
  if (typeof caBundle === 'string' && caBundle !== '') {
    config.ca = Buffer.from(caBundle, 'base64').toString('latin1');
  }
  if (isRecord(service)) {
    config.service = {
      namespace: String(service['namespace'] ?? ''),
      name: String(service['name'] ?? ''),
      path: String(service['path'] ?? ''),
      port: Number(service['port'] ?? 443),
    };
  } else if (typeof url === 'string') {
    config.url = url;
  }
  return config;
}

/** The URL that messages name: a Service's is its name in the cluster's DNS. */
export function urlOf({ url, service }: ClientConfig): URL {
  if (service === undefined) return new URL(url ?? 'https://invalid');
  const { name, namespace, port, path } = service;
  const at = new URL(`https://${name}.${namespace}.svc`);
  at.port = String(port);
  at.pathname = path;
  return at;
}

/** As urlOf, with the port of a Service always written and `timeout` as the last word. */
export function postedUrl(config: ClientConfig, timeoutSeconds: number): string {
  const url = urlOf(config);
  const port = config.service === undefined ? '' : `:${config.service.port}`;
  const host = port === '' ? url.host : `${url.hostname}${port}`;
  return `${url.protocol}//${host}${url.pathname}?timeout=${timeoutSeconds}s`;
}
