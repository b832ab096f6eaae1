import type { SeededRandom } from '../seeded-random.ts';

/** How badly the world of one seed behaves. Shares are of 1; a fault that a seed leaves out has 0. */
export interface Weather {
  /** What a server of one or of three copies answers to an exact retry differs; reads lag with three only. */
  replicas: 1 | 3;
  /** How long the server knows message ids, milliseconds. */
  dedupeMs: number;
  /** Longest usual and longest unusual way of a message, milliseconds. */
  latencyMs: number;
  slowMs: number;
  slow: number;
  loseRequest: number;
  loseReply: number;
  /** A request that reaches the server long after its sender gave it up. */
  late: number;
  /** JetStream answers that it is not there (yet). */
  transient: number;
  /** A message that is none of ours comes onto the subject first. */
  foreign: number;
  /** The id of a commit is known to the server from another subject. */
  sameIdElsewhere: number;
  /** A read is answered by a copy that lags. */
  lag: number;
  /** A read model falls behind for seconds. */
  viewLag: number;
  /** A delivery of a tail is lost, or its consumer is removed. */
  tailLoss: number;
  /** An acknowledgement of an offer is lost. */
  loseAck: number;
  /** Troubles in the course of the simulation. */
  kills: number;
  stops: number;
  serverRestarts: number;
  cuts: number;
  runnerKills: number;
  shutdowns: number;
  /** The server comes back with a journal that is shorter than it was. */
  regression: boolean;
  /** Wall clocks that differ and jump. */
  clocks: boolean;
}

/** Draws the weather of a seed: some are calm, most have a few faults, some have all. */
export function drawWeather(random: SeededRandom): Weather {
  const calm = random.next() < 0.1;
  const share = (most: number) => (calm || random.next() < 0.5 ? 0 : most * (0.2 + 0.8 * random.next()));
  const count = (most: number) => (calm || random.next() < 0.5 ? 0 : random.integer(1, most));
  const replicas = random.next() < 0.5 ? 1 : 3;
  return {
    replicas,
    dedupeMs: random.next() < 0.7 ? 120_000 : 1000,
    latencyMs: random.pick([0.5, 2, 10, 40]),
    slowMs: random.pick([100, 800, 3000]),
    slow: share(0.08),
    loseRequest: share(0.05),
    loseReply: share(0.08),
    late: share(0.05),
    transient: share(0.06),
    foreign: share(0.04),
    sameIdElsewhere: share(0.02),
    lag: replicas === 3 ? share(0.3) : 0,
    viewLag: share(0.1),
    tailLoss: share(0.04),
    loseAck: share(0.3),
    kills: count(3),
    stops: count(2),
    serverRestarts: count(2),
    cuts: count(2),
    runnerKills: count(2),
    shutdowns: count(1),
    regression: !calm && random.next() < 0.06,
    clocks: !calm && random.next() < 0.5,
  };
}
