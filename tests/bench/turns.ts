import type { WireEvent } from '@rookery/protocol';
import { connectClient, createThread, itemOfEvent, startTurn, type TestThread } from '@rookery/testkit';
import { median, percentile, print } from './figures.ts';
import type { BenchHouse } from './house.ts';

const WARM_UP = 30;
const TURNS = 300;
const TOOL_TURNS = 100;
/** Turns of one thread before a new one, so that the history sent to the model stays short. */
const TURNS_A_THREAD = 10;

/** Milliseconds from the sending of turn.start to what the client then sees. */
interface TurnTimes {
  firstDelta: number;
  settled: number;
  toolRounds: number[];
}

/** A client that notes when each event of the turn under way arrives. */
async function timingClient(house: BenchHouse) {
  let onEvent: (event: WireEvent) => void = () => {};
  const client = await connectClient({ url: house.url, token: house.token, onEvent: (event) => onEvent(event) });
  const turn = (thread: TestThread, content: string): Promise<TurnTimes> =>
    new Promise((resolve, reject) => {
      const times: TurnTimes = { firstDelta: Number.NaN, settled: Number.NaN, toolRounds: [] };
      let calledAt: number | null = null;
      const started = performance.now();
      onEvent = (event) => {
        const now = performance.now();
        if (event.type === 'item.delta' && Number.isNaN(times.firstDelta)) times.firstDelta = now - started;
        if (event.type === 'item.started' && itemOfEvent(event)?.kind === 'tool_call') calledAt = now;
        if (event.type === 'model.input_prepared' && calledAt !== null) {
          times.toolRounds.push(now - calledAt);
          calledAt = null;
        }
        if (event.type !== 'run.settled') return;
        times.settled = now - started;
        if (event.payload.status === 'completed') resolve(times);
        else reject(new Error(`a turn ended as ${JSON.stringify(event.payload)}`));
      };
      startTurn(client, thread, content).catch(reject);
    });
  return { client, turn };
}

/** turn_*, first_delta_* and tool_round_*, one turn after the other. */
export async function benchTurns(house: BenchHouse): Promise<void> {
  const { client, turn } = await timingClient(house);
  const measure = async (count: number, content: string): Promise<TurnTimes[]> => {
    const out: TurnTimes[] = [];
    let thread: TestThread | null = null;
    for (let n = 0; n < count; n += 1) {
      if (thread === null || n % TURNS_A_THREAD === 0) thread = await createThread(client);
      out.push(await turn(thread, content));
    }
    return out;
  };
  const plain = 'hello #script {"text":"hello"}';
  const withTool = `list #script ${JSON.stringify({ tools: [{ name: 'list', arguments: {} }], text: 'done' })}`;
  await measure(WARM_UP, plain);
  const turns = await measure(TURNS, plain);
  print('turn_p50_ms', median(turns.map(({ settled }) => settled)), 'ms', { under: 15 });
  print(
    'turn_p95_ms',
    percentile(
      turns.map(({ settled }) => settled),
      0.95,
    ),
    'ms',
    { under: 40 },
  );
  print('first_delta_p50_ms', median(turns.map(({ firstDelta }) => firstDelta)), 'ms', { under: 10 });
  await measure(WARM_UP, withTool);
  const rounds = (await measure(TOOL_TURNS, withTool)).flatMap(({ toolRounds }) => toolRounds);
  print('tool_round_p50_ms', median(rounds), 'ms', { under: 10 });
  await client.close();
}
