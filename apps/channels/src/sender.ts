import { setTimeout as sleep } from 'node:timers/promises';
import { inlineBlobs } from '@rookery/journal';
import { answerBody, answerIdempotencyKey, judgePost, outboxBackoffMs, type PostVerdict } from '@rookery/kernel';
import { type LongText, toAppError } from '@rookery/protocol';
import { faultPoint, logError } from '@rookery/service';
import type { ChannelLease } from './channel-lease.ts';
import type { ChannelPorts } from './channel-ports.ts';
import { finishDelivery } from './finish.ts';
import type { AnswerPoster } from './post-answer.ts';
import { type DueAnswer, loadDue, loadDueAnswer } from './views.ts';

/** Posts due answers until each is accepted or refused: at least once, with one key and one body each time. */
export interface Sender {
  /** Looks for due answers now. */
  wake(): void;
  stop(): Promise<void>;
}

const IN_FLIGHT = 16;
/** One receiver that is slow must not hold up the others. */
const IN_FLIGHT_PER_ACCOUNT = 4;

export function startSender(ports: ChannelPorts, lease: Pick<ChannelLease, 'held'>, poster: AnswerPoster): Sender {
  const { model, blobs, timings, log } = ports;
  const inFlight = new Map<number, { account: string; work: Promise<void> }>();
  const retries = new Map<number, { attempts: number; notBefore: number }>();
  const stopping = new AbortController();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const bodyOf = async (answer: DueAnswer): Promise<string> => {
    const stored = answer.textJson === null ? '' : (JSON.parse(answer.textJson) as LongText);
    const text = await inlineBlobs(stored, blobs, answer.threadId);
    return answerBody({ ...answer, status: answer.runStatus, text: String(text) });
  };

  /** Writes the end of an answer; what has been sent is not sent again because the journal was away. */
  const finish = async (answer: DueAnswer, verdict: Exclude<PostVerdict, { kind: 'retry' }>, attempts: number) => {
    for (let tries = 1; !stopping.signal.aborted; tries += 1) {
      try {
        await finishDelivery(ports, answer, verdict, attempts);
        retries.delete(answer.id);
        return;
      } catch (thrown) {
        logError(
          log.child({ runId: answer.runId }),
          'the end of an answer could not be stored yet',
          toAppError(thrown),
        );
        await sleep(outboxBackoffMs(tries, timings), undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };

  const send = async (id: number): Promise<void> => {
    const attempts = (retries.get(id)?.attempts ?? 0) + 1;
    try {
      const answer = model.read((db) => loadDueAnswer(db, id));
      if (answer === undefined) return;
      const body = await bodyOf(answer);
      const key = answerIdempotencyKey(answer.runId);
      const outcome = await poster.post(answer.answerUrl, body, key, stopping.signal);
      if (stopping.signal.aborted) return;
      faultPoint('channels:after-post');
      const verdict = judgePost(outcome, attempts, timings, ports.now());
      if (verdict.kind !== 'retry') return await finish(answer, verdict, attempts);
      retries.set(id, { attempts, notBefore: performance.now() + verdict.afterMs });
      log.info({ runId: answer.runId, attempts, error: verdict.errorCode }, 'an answer is to be sent again');
    } catch (thrown) {
      retries.set(id, { attempts, notBefore: performance.now() + outboxBackoffMs(attempts, timings) });
      logError(log.child({ outboxId: id, attempts }), 'an answer could not be sent yet', toAppError(thrown));
    }
  };

  const perAccount = (account: string) => [...inFlight.values()].filter((flight) => flight.account === account).length;

  /** Starts what is due and gives the time until something else is. */
  const startDue = (): number => {
    const due = model.read(loadDue);
    const now = performance.now();
    let next = timings.sweepMs;
    for (const { id, account } of due) {
      if (inFlight.has(id)) continue;
      const wait = (retries.get(id)?.notBefore ?? 0) - now;
      if (wait > 0) next = Math.min(next, wait);
      else if (inFlight.size < IN_FLIGHT && perAccount(account) < IN_FLIGHT_PER_ACCOUNT) {
        const work = send(id).finally(() => {
          inFlight.delete(id);
          pass();
        });
        inFlight.set(id, { account, work });
      }
    }
    const open = new Set(due.map(({ id }) => id));
    for (const id of retries.keys()) if (!open.has(id)) retries.delete(id);
    return next;
  };

  const pass = (): void => {
    if (stopped) return;
    let next = timings.sweepMs;
    try {
      // Rows of a read model that is behind show answers as due that were sent long ago.
      if (lease.held() && model.state().state === 'live') next = startDue();
    } catch (thrown) {
      logError(log, 'the outbox could not be read', toAppError(thrown));
    }
    clearTimeout(timer);
    timer = setTimeout(pass, next);
  };

  pass();
  return {
    wake: pass,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const works = Promise.allSettled([...inFlight.values()].map((flight) => flight.work));
      await Promise.race([works, sleep(timings.drainMs, undefined, { ref: false })]);
      stopping.abort();
      await works;
    },
  };
}
