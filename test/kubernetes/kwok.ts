/**
 * kwok's configuration: its stages, and pods that answer logs, exec, attach and port-forward: what is forwarded to a port of any
 * pod leads to the port of this machine that `forwards` says, or comes back.
 */
export function kwokConfig(
  stages: string,
  dir: string,
  forwards: Readonly<Record<number, number>> = {},
): string {
  const log = `${dir}/pod.log`;
  const led = Object.entries(forwards).map(([port, to]) => ({
    ports: [Number(port)],
    target: { address: '127.0.0.1', port: to },
  }));
  const resources = [
    { kind: 'ClusterLogs', spec: { logs: [{ logsFile: log, follow: true }] } },
    { kind: 'ClusterAttach', spec: { attaches: [{ logsFile: log }] } },
    { kind: 'ClusterExec', spec: { execs: [{ local: { workDir: `${dir}/scratch` } }] } },
    { kind: 'ClusterPortForward', spec: { forwards: [...led, { command: ['cat'] }] } },
  ];
  const documents = resources.map((resource) =>
    JSON.stringify({ apiVersion: 'kwok.x-k8s.io/v1alpha1', metadata: { name: 'all' }, ...resource }),
  );
  return [stages, ...documents].join('\n---\n');
}

/** Node objects for kwok to keep ready, as one YAML stream. */
export function nodeObjects(cluster: string, count: number): string {
  const room = { cpu: '32', memory: '256Gi', pods: '110' };
  const nodes = Array.from({ length: count }, (_, i) => {
    const name = `${cluster}-${i + 1}`;
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    };
    const metadata = {
      name,
      labels: { ...labels, type: 'kwok' },
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
    };
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Node',
      metadata,
      status: { allocatable: room, capacity: room },
    });
  });
  return nodes.join('\n---\n');
}
