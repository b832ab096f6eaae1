import type { HouseStatus } from '@rookery/protocol';
import type { ReadModelStats } from '@rookery/read-model';

/** Upper bounds of the buckets of request durations, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

interface Histogram {
  counts: number[];
  sum: number;
  count: number;
}

export interface Gauges {
  connections: number;
  queueDepth: number;
  readModel: ReadModelStats | null;
  ready: boolean;
  house: HouseStatus | null;
}

const label = (text: string) => text.replace(/[\\"\n]/g, '_');

/** Counts of this process for Prometheus. */
export class Metrics {
  eventsSent = 0;
  slowConsumers = 0;
  refusals = 0;
  readonly #rpc = new Map<string, number>();
  readonly #durations = new Map<string, Histogram>();
  readonly #http = new Map<string, number>();

  rpc(method: string, code: string | null, ms: number): void {
    const key = `method="${label(method)}",code="${label(code ?? 'ok')}"`;
    this.#rpc.set(key, (this.#rpc.get(key) ?? 0) + 1);
    const histogram = this.#durations.get(method) ?? { counts: BUCKETS.map(() => 0), sum: 0, count: 0 };
    const seconds = ms / 1000;
    for (const [index, bound] of BUCKETS.entries())
      if (seconds <= bound) histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
    histogram.sum += seconds;
    histogram.count += 1;
    this.#durations.set(method, histogram);
  }

  /** All RPC together, as the NATS services protocol shows it. */
  readonly serviceStats = (): { requests: number; errors: number; dropped: number; processingMs: number } => {
    const all = [...this.#durations.values()];
    const requests = all.reduce((sum, { count }) => sum + count, 0);
    const refused = [...this.#rpc].reduce((sum, [key, count]) => (key.endsWith('code="ok"') ? sum : sum + count), 0);
    return { requests, errors: refused, dropped: 0, processingMs: all.reduce((sum, one) => sum + one.sum, 0) * 1000 };
  };

  http(route: string, status: number): void {
    const key = `route="${label(route)}",status="${status}"`;
    this.#http.set(key, (this.#http.get(key) ?? 0) + 1);
  }

  /** Prometheus text format. */
  render(gauges: Gauges): string {
    const model = gauges.readModel;
    const lines = [
      ...metric('rookery_gateway_ready', 'gauge', 'Whether this gateway is ready.', [['', gauges.ready ? 1 : 0]]),
      ...metric('rookery_gateway_connections', 'gauge', 'Open WebSocket connections.', [['', gauges.connections]]),
      ...metric('rookery_gateway_queue_depth', 'gauge', 'Frames that wait in all connections.', [
        ['', gauges.queueDepth],
      ]),
      ...metric('rookery_gateway_events_sent_total', 'counter', 'Event notifications sent.', [['', this.eventsSent]]),
      ...metric('rookery_gateway_slow_consumers_total', 'counter', 'Connections closed as too slow.', [
        ['', this.slowConsumers],
      ]),
      ...metric('rookery_gateway_refused_total', 'counter', 'Requests refused for host, origin or credential.', [
        ['', this.refusals],
      ]),
      ...metric('rookery_gateway_http_requests_total', 'counter', 'HTTP requests by route and status.', [
        ...this.#http,
      ]),
      ...metric('rookery_gateway_rpc_requests_total', 'counter', 'RPC requests by method and result code.', [
        ...this.#rpc,
      ]),
      ...this.#durationLines(),
    ];
    if (model !== null) {
      lines.push(
        ...metric('rookery_read_model_applied_seq', 'gauge', 'Stream sequence applied.', [['', model.appliedSeq]]),
        ...metric('rookery_read_model_lag', 'gauge', 'Stream sequences not applied yet.', [['', model.lag]]),
        ...metric('rookery_read_model_foreign_total', 'counter', 'Messages in the journal that are none of ours.', [
          ['', model.foreign],
        ]),
        ...metric('rookery_read_model_quarantined', 'gauge', 'Threads or subjects out of service.', [
          ['', model.quarantined],
        ]),
      );
    }
    if (gauges.house !== null) lines.push(...houseLines(gauges.house));
    return `${lines.join('\n')}\n`;
  }

  #durationLines(): string[] {
    const name = 'rookery_gateway_rpc_duration_seconds';
    const lines = [`# HELP ${name} Time from request to answer.`, `# TYPE ${name} histogram`];
    for (const [method, { counts, sum, count }] of this.#durations) {
      const base = `method="${label(method)}"`;
      for (const [index, bound] of BUCKETS.entries())
        lines.push(`${name}_bucket{${base},le="${bound}"} ${counts[index] ?? 0}`);
      lines.push(
        `${name}_bucket{${base},le="+Inf"} ${count}`,
        `${name}_sum{${base}} ${sum}`,
        `${name}_count{${base}} ${count}`,
      );
    }
    return lines;
  }
}

function houseLines({ processes, storage }: HouseStatus): string[] {
  const each = (value: (process: HouseStatus['processes'][number]) => number) =>
    processes.map((process): [string, number] => [`service="${label(process.name)}"`, value(process)]);
  return [
    ...metric(
      'rookery_service_restarts_total',
      'counter',
      'Starts of a process after its first one.',
      each((one) => one.restarts),
    ),
    ...metric(
      'rookery_service_failing',
      'gauge',
      'Whether a process ends again and again.',
      each((one) => (one.failing ? 1 : 0)),
    ),
    ...metric(
      'rookery_storage_free_bytes',
      'gauge',
      'Free disk space of the home.',
      storage.freeBytes === null ? [] : [['', storage.freeBytes]],
    ),
  ];
}

function metric(name: string, type: string, help: string, samples: [string, number][]): string[] {
  const rows = samples.map(([labels, value]) => `${name}${labels === '' ? '' : `{${labels}}`} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...rows];
}
