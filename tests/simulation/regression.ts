import type { Violation } from '@rookery/testkit';
import type { SimulatedAgent } from './agent.ts';
import type { ViewCommit } from './journal-view.ts';
import type { World } from './world.ts';

/** What is known of a journal that came back shorter, and of the processes that have noticed. */
export class Regression {
  /** Places whose read models had applied what was lost. */
  readonly #behind = new Set<string>();
  /** When a process knew, and what its read model was then. */
  readonly #noticed = new Map<string, { at: number; digest: string }>();
  readonly #places = new Set<string>();
  readonly #violations: Violation[] = [];
  happened = false;

  /** The server loses the last messages, with all that comes of it. */
  strike({ engine, server }: World, agents: readonly SimulatedAgent[]): void {
    if (!server.isUp || this.happened || server.stream.lastSeq < 2) return;
    this.happened = true;
    const cut = Math.max(0, server.stream.lastSeq - engine.random.integer(1, 8));
    for (const { host, file } of agents) if (file.appliedSeq() > cut) this.#behind.add(host);
    engine.note(engine.world, `journal ends at ${cut}`);
    server.restart(engine.random.next() * 3000, cut);
  }

  /** A process has seen that its journal is not the one that it knows. */
  notice(agent: SimulatedAgent, instance: string, at: number): void {
    this.#places.add(agent.host);
    this.#noticed.set(instance, { at, digest: JSON.stringify(agent.file.digest()) });
  }

  /** After that, nothing that the process sends may be stored. */
  watch({ by, streamSeq, subject }: ViewCommit, sentAt: number): void {
    const noticed = this.#noticed.get(by.slice(by.indexOf('/') + 1));
    if (noticed === undefined || sentAt <= noticed.at) return;
    this.#violations.push({ rule: 'regressed', detail: `${by} appends ${streamSeq} on ${subject}` });
  }

  /** Everyone who had more than there is has noticed, and has applied nothing since. */
  check(agents: readonly SimulatedAgent[]): Violation[] {
    const out = [...this.#violations];
    for (const { host, file, running } of agents) {
      if (!this.#behind.has(host)) continue;
      if (!this.#places.has(host)) out.push({ rule: 'regressed', detail: `${host} has not noticed` });
      const noticed = this.#noticed.get(running?.owner.name ?? '');
      if (noticed !== undefined && noticed.digest !== JSON.stringify(file.digest()))
        out.push({ rule: 'regressed', detail: `${host} has applied what came after` });
    }
    return out;
  }
}
