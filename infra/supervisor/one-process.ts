import { start as startAgent } from '@rookery/agent';
import { start as startChannels } from '@rookery/channels';
import { start as startGateway } from '@rookery/gateway';
import { start as startMemory } from '@rookery/memory';
import { runServices } from '@rookery/service';
import { start as startToolRunner } from '@rookery/tool-runner';

// The five services in the order in which they stop, each as its own NATS user.
await runServices('one-process', [
  ['channels', startChannels],
  ['gateway', startGateway],
  ['agent', startAgent],
  ['tool', startToolRunner],
  ['memory', startMemory],
]);
