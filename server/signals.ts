/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const first = (signal: NodeJS.Signals) => {
      for (const name of ['SIGTERM', 'SIGINT'] as const) {
        process.off(name, first);
        process.once(name, () => process.exit(130));
      }
      resolve(signal);
    };
    process.on('SIGTERM', first);
    process.on('SIGINT', first);
  });
}
