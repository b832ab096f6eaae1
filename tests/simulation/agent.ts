import { type AgentDeps, createTools, startInstance } from '@rookery/agent/testing';
import type { BlobStore } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { conversationProjection } from '@rookery/kernel';
import { instanceName, sha256Hex, toAppError } from '@rookery/protocol';
import { applyingError, type ReadModel } from '@rookery/read-model';
import { MemoryFile, openMemoryReadModel } from '@rookery/read-model/testing';
import { OrderedWay, type Owner, SimulatedBus, simulatedLiveness } from '@rookery/testkit/simulation';
import type { SimulatedModel } from './model.ts';
import type { World } from './world.ts';

const RESTART_MS = 5000;
/** Longer than a command or a scheduler waits for its view. */
const VIEW_LAG_MS = 6000;

interface Running {
  owner: Owner;
  links: SimulatedBus[];
  model: ReadModel<unknown> | null;
  instance: { stop(): Promise<void> } | null;
}

/** One place of the agent service: its file outlives the processes that come and go there. */
export class SimulatedAgent {
  readonly file = new MemoryFile(conversationProjection);
  readonly host: string;
  running: Running | null = null;
  readonly #world: World;
  readonly #model: SimulatedModel;
  #boots = 0;

  constructor(world: World, host: string, model: SimulatedModel) {
    this.#world = world;
    this.host = host;
    this.#model = model;
  }

  /** Starts a process at this place after a while. */
  boot(delayMs = 0): void {
    const { engine, weather } = this.#world;
    this.#boots += 1;
    const skewMs = weather.clocks ? engine.random.integer(-3_600_000, 3_600_000) : 0;
    const owner = engine.owner(instanceName(this.host, 0, `boot${this.#boots}`), skewMs);
    const running: Running = { owner, links: [], model: null, instance: null };
    this.running = running;
    engine.after(owner, delayMs, 'boots', () => {
      this.#start(running).catch((error: unknown) => this.#failed(running, error));
    });
  }

  /** As `start` of the service, on parts of the simulation. */
  async #start(running: Running): Promise<void> {
    const { engine, server, timings, weather } = this.#world;
    const { owner } = running;
    const connect = () => {
      const made = new SimulatedBus(server, owner, { user: 'agent', publishTimeoutMs: timings.publishTimeoutMs });
      running.links.push(made);
      return made;
    };
    const connection = connect();
    const { bus } = connection;
    const lag = () => engine.random.next() * (server.strikes(weather.viewLag) ? VIEW_LAG_MS : 0.5);
    const way = new OrderedWay(engine, owner, 'thread', lag);
    const model = await openMemoryReadModel({
      file: this.file,
      projection: conversationProjection,
      connect: async () => connect().bus,
      carry: (deliver) => way.send(deliver),
      onState: (state) => {
        engine.note(owner, `read model ${state.state}`);
        if (state.state === 'regressed') this.#world.regression.notice(this, owner.name, engine.now);
      },
    });
    running.model = model;
    await model.level();
    const deps: AgentDeps = {
      config: { version: '0', env: {} } as AgentDeps['config'],
      homeId: server.homeId,
      instance: owner.name,
      timings,
      log: this.#log(owner),
      bus,
      journal: openJournal(bus, { timings, guard: () => applyingError(model) }),
      model,
      settings: {} as AgentDeps['settings'],
      liveness: simulatedLiveness(connection, 'agent', owner.name, timings),
      blobs: blobsOf(connection),
      models: this.#model.forInstance(owner),
      tools: createTools(bus, 'main', timings),
      storage: { freeBytes: () => null, refusal: () => null, stop: () => undefined },
    };
    const workers = engine.random.integer(1, 3);
    running.instance = await startInstance(deps, workers);
    engine.note(owner, `serves with ${workers} workers`);
  }

  /** A service that cannot start ends; its supervisor starts it again. */
  #failed({ owner }: Running, error: unknown): void {
    const { code } = toAppError(error);
    this.#world.engine.note(owner, `cannot start: ${code}`);
    if (code === 'INTERNAL') throw error;
    this.kill(RESTART_MS);
  }

  #log(owner: Owner): AgentDeps['log'] {
    const { engine } = this.#world;
    const write = (about: { code?: string } | string, message = '') =>
      engine.note(owner, typeof about === 'string' ? about : `${message} ${about.code ?? ''}`);
    const log = { info: write, warn: write, error: write, debug: write, fatal: write, child: () => log };
    return log as unknown as AgentDeps['log'];
  }

  /** The process is killed where it stands; the next one starts after a while. */
  kill(forMs: number): void {
    const { running } = this;
    if (running === null || !running.owner.alive) return;
    this.#world.engine.kill(running.owner);
    for (const { link } of running.links) this.#world.server.close(link);
    this.boot(forMs);
  }

  /** The process is asked to end, as by SIGTERM; the next one starts when it has. */
  shutDown(forMs: number): void {
    const { running } = this;
    if (running === null || running.instance === null) return;
    const { instance, model, owner, links } = running;
    const { engine, server } = this.#world;
    const end = async () => {
      await instance.stop();
      await model?.stop();
      engine.note(owner, 'has ended');
      engine.after(engine.world, 0, 'exit', () => {
        if (!owner.alive) return;
        engine.kill(owner);
        for (const { link } of links) server.close(link);
        this.boot(forMs);
      });
    };
    running.instance = null;
    engine.after(owner, 0, 'SIGTERM', () => void end());
  }

  /** True where the read model has applied the whole stream. */
  isLevel(): boolean {
    const { running } = this;
    return running?.instance != null && running.model?.appliedSeq() === this.#world.server.stream.lastSeq;
  }
}

function blobsOf(bus: SimulatedBus): BlobStore {
  const { blobs } = bus.server;
  return {
    async put(threadId, text) {
      const sha256 = sha256Hex(text);
      await bus.ask('blob put', () => void blobs.set(`${threadId}/${sha256}`, text));
      return sha256;
    },
    get: (threadId, sha256) => bus.ask('blob get', () => blobs.get(`${threadId}/${sha256}`) ?? null),
  };
}
