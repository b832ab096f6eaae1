export interface StopSignals {
  /** Resolves with the first reason to stop: a signal, or a request. */
  readonly stopped: Promise<string>;
  readonly stopping: boolean;
  request(reason: string): void;
  dispose(): void;
}

/**
 * Listens for SIGINT, SIGTERM and SIGHUP. The first one asks for an orderly stop; another SIGINT calls `force`,
 * for a person who will not wait.
 */
export function stopSignals(force: () => void): StopSignals {
  let resolveStopped: (reason: string) => void = () => {};
  const stopped = new Promise<string>((resolve) => {
    resolveStopped = resolve;
  });
  let stopping = false;
  let firstAt = 0;
  const request = (reason: string) => {
    if (!stopping) firstAt = Date.now();
    stopping = true;
    resolveStopped(reason);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    // One Ctrl-C comes twice: from the terminal, and from npm, which passes it on.
    if (stopping && signal === 'SIGINT' && Date.now() - firstAt > 500) force();
    else request(signal);
  };
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    stopped,
    get stopping() {
      return stopping;
    },
    request,
    dispose: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
