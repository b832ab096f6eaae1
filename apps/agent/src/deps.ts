import type { BlobStore, Bus, ConfigView, Liveness } from '@rookery/bus';
import type { Journal } from '@rookery/journal';
import type { Timings } from '@rookery/protocol';
import type { ReadModel } from '@rookery/read-model';
import type { Logger, ServiceConfig, Storage } from '@rookery/service';
import type { Models } from './models/models.ts';
import type { Tools } from './tools.ts';

/** What the parts of the agent service work with. */
export interface AgentDeps {
  config: ServiceConfig;
  homeId: string;
  instance: string;
  timings: Timings;
  log: Logger;
  bus: Bus;
  journal: Journal;
  /** The conversation as this instance has applied it. */
  model: ReadModel<unknown>;
  settings: ConfigView;
  liveness: Liveness;
  blobs: BlobStore;
  models: Models;
  tools: Tools;
  /** Free disk space of the home. */
  storage: Storage;
}
