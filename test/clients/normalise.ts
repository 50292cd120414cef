/** What differs between any two clusters, or two runs, becomes a word; what only Atoll writes goes. */
export function normalise(output: string): string {
  const text = rules.reduce((said, [pattern, word]) => said.replace(pattern, word), output);
  return eventsSorted(blocksSorted(withoutClusters(text))).trimEnd();
}

/** Tables of workloads have the column CLUSTERS with us, the last one of -o wide. */
function withoutClusters(text: string): string {
  let isTable = false;
  const lines = text.split('\n').map((line) => {
    if (/ {2}CLUSTERS$/.test(line)) isTable = true;
    else if (line === '') isTable = false;
    return isTable ? line.replace(/ {2,}\S+( \+ \d+ more\.\.\.)?$/, '').trimEnd() : line;
  });
  return lines.join('\n');
}

/** Several objects that are described come in the order of their names, and these end in a hash. */
function blocksSorted(text: string): string {
  const [code = '', ...rest] = text.split('\n');
  const blocks = rest.join('\n').split('\n\n\n');
  return blocks.length === 1
    ? text
    : [
        code,
        blocks
          .map((block) => block.trim())
          .sort()
          .join('\n\n\n'),
      ].join('\n');
}

/** How often and in which order things happened is a matter of timing; what happened is not. */
function eventsSorted(text: string): string {
  const event = /^ +(Normal|Warning) .*\n?/gm;
  return text.replace(/(?:^ +(?:Normal|Warning) .*\n?)+/gm, (block) => {
    const lines = block.match(event)?.map((line) =>
      line
        .replace(/ \(xN\)/, '')
        .replace(/from \d+ to \d+/, 'from N to N')
        .trimEnd(),
    );
    return `${[...new Set(lines)].sort().join('\n')}\n`;
  });
}

const hash = '[bcdfghjklmnpqrstvwxz2456789]';

const rules: readonly (readonly [RegExp, string])[] = [
  // kubectl 1.20 prints them with everything; those of status and placement are ours.
  [/^( *)managedFields:\n(?:\1[- ] .*\n)*/gm, ''],
  [/^( *)"managedFields": \[\n(?:\1 .*\n)*\1\],?\n/gm, ''],
  [/^( *)Managed Fields:\n(?:\1 .*\n)*/gm, ''],
  [/^((?:Annotations|Labels):) +/gm, '$1\n  '],
  [/^\s+<none>\n/gm, ''],
  // Ours alone.
  [/^Warning: plan: .*\n?/gm, ''],
  [/\n--- stderr\s*$/, ''],
  [/^.*\b((atoll\.dev|(core|tenancy)\.kcp\.io)\/v1alpha1|metrics\.k8s\.io\/v1beta1)\b.*\n/gm, ''],
  [/^(physicalclusters|placements|logicalclusters|workspaces)\..*\n/gm, ''],
  [/\+atoll\b/g, ''],
  [/Git(Commit|TreeState):"[^"]*"/g, 'Git$1'],
  [/^ *"?(gitCommit|gitTreeState|gitVersion|buildDate|goVersion)"?: .*\n/gm, ''],
  [/^[EIW]\d{4} .*reflector\.go.*watch ended with error.*\n/gm, ''],
  [/^\s*internal\.atoll\.dev\/parts:\s*\n.*\n/gm, ''],
  [/^(\s*"?(internal\.)?atoll\.dev\/|\s*"?kcp\.io\/)[^\n]*\n/gm, ''],
  // Of the last change of a pod, or none: as timing has it.
  [/^.*endpoints\.kubernetes\.io\/last-change-trigger-time.*\n/gm, ''],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, '$1'],
  [/\/tmp\/kubectl-edit-\w+/g, 'EDIT'],
  [/^@@ .* @@/gm, '@@'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, 'TIME'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, 'TIME'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  [/\b[EIWF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /g, 'LOG '],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN'],
  [/\bhttps:\/\/127\.0\.0\.1:\d+/g, 'SERVER'],
  [/127\.0\.0\.1:\d+/g, 'SERVER'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b(?!\/)/g, 'IP'],
  [/\bIP:\d{5}\b/g, 'SERVER'],
  [/\b(80:)3\d{4}\b/g, '$1PORT'],
  [/(NodePort: .* )3\d{4}\b/g, '$1PORT'],
  [/(hello from a pod of )[\w-]+/g, '$1IT'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} UTC/g, 'TIME'],
  [/(\/[\w.-]+)+\/kubeconfig-\w+/g, 'KUBECONFIG'],
  [/("?resourceVersion"?: )"\d+"/g, '$1"RV"'],
  [/("?generation"?|"?observedGeneration"?): \d+/g, '$1: N'],
  [/Resource ?[vV]ersion:\s+"?\d+"?/g, 'RV'],
  [new RegExp(`-${hash}{8,10}-${hash}{5}\\b`, 'g'), '-HASH'],
  [/(pod-template-hash|controller-revision-hash)([=:]\s*"?)[\w-]+/g, '$1$2HASH'],
  [new RegExp(`-(?:${hash}{8,10}|${hash}{5})\\b`, 'g'), '-HASH'],
  [/\b\d+(ms|s|m|h|d)(\d+(s|m|h))?( ago)?\b/g, 'AGE'],
  [/\(x\d+ over AGE\)/g, '(xN)'],
  [/<(invalid|unknown)>/g, 'AGE'],
  [/\b(oracle|east|clients-oracle|clients-east)-\d\b/g, 'NODE'],
  // Columns are as wide as what stands in them.
  [/[ \t]{2,}/g, '  '],
  [/ +$/gm, ''],
  [/,$/gm, ''],
];
