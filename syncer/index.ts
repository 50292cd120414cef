export { type Syncers, type SyncersOptions, startSyncers } from './manager.ts';
export { runSilence } from './silence.ts';
export { type Syncer, type SyncerOptions, startSyncer } from './syncer.ts';
