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

/** How the one container of a Job's pod ends, by what it is to run: jq, as kwok asks it. */
const ending =
  `(.spec.containers[0] | [(.image // ""), ((.command // [])[]), ((.args // [])[])] | join(" ")) as $runs
| ((.metadata.annotations // {})["batch.kubernetes.io/job-completion-index"] // "0" | tonumber) as $index
| if ($runs | test("expr .*JOB_COMPLETION_INDEX. % 2")) then (if $index % 2 == 1 then "fails" else "ends" end)
elif ($runs | test("pause|sleep")) then "runs" elif ($runs | test("exit 1 *$")) then "fails" else "ends" end`.replaceAll(
    '\n',
    ' ',
  );

/** Of these stages: pods of Jobs that sleep or pause run on, those that exit 1 fail, where all would end well at once. */
export function withEndings(stages: string): string {
  const documents = stages.split('\n---\n');
  const at = documents.findIndex((document) => /^ {2}name: pod-complete$/m.test(document));
  const complete = documents[at];
  if (complete === undefined) throw new Error('no stage is named pod-complete');
  const asks = (word: string) =>
    complete.replace(
      /^ {2}next:$/m,
      `    - key: '${ending}'\n      operator: 'In'\n      values:\n      - '${word}'\n  next:`,
    );
  const fail = asks('fails')
    .replace('name: pod-complete', 'name: pod-fail')
    .replace('exitCode: 0', 'exitCode: 1')
    .replace('reason: Completed', 'reason: Error')
    .replace('phase: Succeeded', 'phase: Failed');
  return documents.toSpliced(at, 1, asks('ends'), fail).join('\n---\n');
}

/** A default StorageClass, and volumes for claims of it: nothing provisions one. */
export function storageObjects(volumes: number): string {
  const storage = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' };
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const provisioner = 'kubernetes.io/no-provisioner';
  const objects: object[] = [
    { ...storage, metadata: { name: 'spare', annotations: isDefault }, provisioner },
  ];
  for (let i = 0; i < volumes; i++) {
    objects.push({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `spare-${i}` },
      spec: {
        storageClassName: 'spare',
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce', 'ReadWriteMany'],
        hostPath: { path: `/tmp/spare-${i}` },
      },
    });
  }
  return objects.map((object) => JSON.stringify(object)).join('\n---\n');
}
