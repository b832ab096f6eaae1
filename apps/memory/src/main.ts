import { runService } from '@rookery/service';
import { start } from './start.ts';

await runService('memory', start);
