const ends = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Resolves at the first SIGTERM, SIGINT or SIGHUP; a second one of the first two ends the process at once. A terminal
 * that goes sends SIGHUP more than once, and what is written to it fails.
 */
export function untilSignal(): Promise<NodeJS.Signals> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return new Promise((resolve) => {
    let signalled = false;
    for (const name of ends) {
      process.on(name, () => {
        if (signalled && name !== 'SIGHUP') process.exit(130);
        signalled = true;
        resolve(name);
      });
    }
  });
}
