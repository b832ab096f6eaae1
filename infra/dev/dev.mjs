// `npm run dev`: the same as `npm start`, and it watches: what changed is rebuilt and restarted.
import { start } from './start.mjs';
import { report } from './steps.mjs';

start(['--watch', ...process.argv.slice(2)]).then(
  () => process.exit(0),
  (error) => {
    report(error);
    process.exit(1);
  },
);
