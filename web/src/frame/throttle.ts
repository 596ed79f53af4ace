/** Runs jobs one at a time, and starts at most one per interval. A job that waits is replaced by a newer one. */
export class Throttle {
  #waiting: (() => Promise<unknown>) | undefined;
  #running = false;

  constructor(private readonly interval: number) {}

  run(job: () => Promise<unknown>): void {
    this.#waiting = job;
    if (!this.#running) void this.#work();
  }

  async #work(): Promise<void> {
    this.#running = true;
    while (this.#waiting) {
      const job = this.#waiting;
      this.#waiting = undefined;
      await Promise.allSettled([job(), new Promise((go) => setTimeout(go, this.interval))]);
    }
    this.#running = false;
  }
}
