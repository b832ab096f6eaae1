import { join } from 'node:path';
import type { ProcessRecord } from '@rookery/protocol';
import { commandEnvironment } from '@rookery/sandbox';
import type { ProcessFacts } from '../processes/process-facts.ts';
import { ProcessFiles } from '../processes/process-files.ts';
import { ProcessTable } from '../processes/process-table.ts';
import type { ProcessPorts } from '../processes/running-process.ts';

/** Keeps facts in memory in their order. */
export class RememberedFacts implements ProcessFacts {
  readonly records: ProcessRecord[] = [];
  failing = false;

  async record(_meta: unknown, record: ProcessRecord): Promise<void> {
    if (this.failing) throw new Error('the journal is away');
    this.records.push(record);
  }

  follow(_meta: unknown, record: ProcessRecord): void {
    this.records.push(record);
  }

  states(processId: string): string[] {
    return this.records.filter((record) => record.processId === processId).map((record) => record.state);
  }
}

/** A table of processes over real files and commands, with short waits. */
export function makeProcessTable(home: string): { table: ProcessTable; facts: RememberedFacts; files: ProcessFiles } {
  const facts = new RememberedFacts();
  const files = new ProcessFiles(join(home, 'processes'));
  const ports: ProcessPorts = {
    files,
    facts,
    timings: { processTerminateMs: 300, processDrainMs: 200, processSnapshotMs: 50 },
    environment: commandEnvironment(process.env),
    report: (error) => {
      throw error;
    },
  };
  return { table: new ProcessTable('main', ports), facts, files };
}
