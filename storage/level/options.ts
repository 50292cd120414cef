export interface Logger {
  info(message: string): void;
  warn(message: string): void;
}

export interface LevelOptions {
  /** Wait for the disk before acknowledging. Default true; false only for tests: a power cut loses writes. */
  sync?: boolean;
  /** How much history to keep, whichever bound is reached first. Default 5 minutes, 100,000 events, 256 MiB. */
  historyAgeMs?: number;
  historyEvents?: number;
  historyBytes?: number;
  /** Refuse creates and updates with `full` while fewer bytes are free on the disk. Default 128 MiB. */
  reserveBytes?: number;
  /** How many bytes are free on the disk of a directory; default: what the file system says. */
  freeBytes?: (directory: string) => Promise<number>;
  /**
   * How many bytes of current values stay in memory; default all. Above it the least used are read from disk when
   * somebody asks for them. Keys, and history within its own bound, stay in memory in any case.
   */
  memoryBudget?: number;
  logger?: Logger;
}
