// The ranks of docs/flow.md: a folder imports only from folders of a lower rank, never sideways.
const ranks = [
  ['kube', 'storage'],
  ['cluster'],
  ['client', 'apiserver'],
  ['controller'],
  ['scheduler', 'splitter', 'syncer'],
  ['sim'],
  ['server'],
  ['cli'],
];

const forbidden = ranks.flatMap((folders, rank) =>
  folders.map((folder) => {
    const allowed = [folder, ...ranks.slice(0, rank).flat()];
    // storage knows nothing of Kubernetes: it keeps keys and bytes.
    const lower = folder === 'storage' ? ['storage'] : allowed;
    const others = ranks.flat().filter((f) => !lower.includes(f));
    return {
      name: `${folder}-imports-only-lower-ranks`,
      severity: 'error',
      from: { path: `^${folder}/` },
      to: { path: `^(${[...others, 'test'].join('|')})/` },
    };
  }),
);

module.exports = {
  forbidden: [
    ...forbidden,
    // A verb stands alone: what several verbs need is in a folder of apiserver/handlers, which knows no verb.
    {
      name: 'no-verb-imports-a-verb',
      severity: 'error',
      from: { pathNot: '^apiserver/handlers/(dispatch|patch)[.]ts$' },
      to: { path: '^apiserver/handlers/(?!dispatch[.])[^/]+[.]ts$' },
    },
    // One of a PATCH's four dialects is a verb of its own.
    {
      name: 'patch-imports-no-verb-but-apply',
      severity: 'error',
      from: { path: '^apiserver/handlers/patch[.]ts$' },
      to: { path: '^apiserver/handlers/(?!apply[.])[^/]+[.]ts$' },
    },
    // Nor may types point both ways: what two files need of each other is in a third.
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.cjs', '.json'] },
  },
};
