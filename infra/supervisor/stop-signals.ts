export interface StopSignals {
  /** Resolves with the first reason to stop: a signal, or a request. */
  readonly stopped: Promise<string>;
  /** Aborted at that moment. */
  readonly signal: AbortSignal;
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
  const controller = new AbortController();
  const { signal } = controller;
  let firstAt = 0;
  const request = (reason: string) => {
    if (signal.aborted) return;
    firstAt = Date.now();
    resolveStopped(reason);
    controller.abort();
  };
  const onSignal = (name: NodeJS.Signals) => {
    // One Ctrl-C comes twice: from the terminal, and from npm, which passes it on.
    if (signal.aborted && name === 'SIGINT' && Date.now() - firstAt > 500) force();
    else request(name);
  };
  const names: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const name of names) process.on(name, onSignal);
  return {
    stopped,
    signal,
    request,
    dispose: () => {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
