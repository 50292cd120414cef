import { Command } from 'commander';
import { atollVersion, kubernetesVersion } from '../../server/version.ts';
import { print, printJson } from '../output.ts';
import { addOutput, type Global } from './options.ts';

export function versionCommand(): Command {
  return addOutput(new Command('version'))
    .description('what this is, and which Kubernetes API it serves')
    .addHelpText('after', '\nExamples:\n  atoll version\n  atoll version -o json')
    .action((_local, command: Command) => {
      const { output } = command.optsWithGlobals<Global>();
      const facts = { atoll: atollVersion(), kubernetes: kubernetesVersion, node: process.versions.node };
      if (output === 'json') printJson(facts);
      else print(`atoll ${facts.atoll}, Kubernetes API ${facts.kubernetes}, Node ${facts.node}`);
    });
}
