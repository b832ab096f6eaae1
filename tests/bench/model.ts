// A model server as a process of its own, so that it does not share its time with the client that measures.
import { startScriptedModel } from '@rookery/testkit';

const model = await startScriptedModel();
process.stdout.write(`${model.url}\n`);
process.on('disconnect', () => process.exit(0));
