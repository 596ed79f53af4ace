/** Lets a limited number of calls run at a time. The others start in the order in which they came. */
export class Slots {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  /** Runs a call when there is a slot. Urgent calls overtake the others that wait. */
  async run<T>(call: () => Promise<T>, urgent = false): Promise<T> {
    if (this.#running < this.limit) this.#running++;
    else await new Promise<void>((start) => (urgent ? this.#waiting.unshift(start) : this.#waiting.push(start)));
    try {
      return await call();
    } finally {
      // The next call takes over the slot.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
