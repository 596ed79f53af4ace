/** Lets a limited number of calls run at a time. The others start in the order in which they came, urgent ones first. */
export class Slots {
  #running = 0;
  readonly #urgent: (() => void)[] = [];
  readonly #others: (() => void)[] = [];

  constructor(private readonly limit: number) {}

  /** Runs a call when there is a slot. Urgent calls overtake the others that wait, but not each other. */
  async run<T>(call: () => Promise<T>, urgent = false): Promise<T> {
    if (this.#running < this.limit) this.#running++;
    else await new Promise<void>((start) => (urgent ? this.#urgent : this.#others).push(start));
    try {
      return await call();
    } finally {
      // The next call takes over the slot, so #running stays the same.
      const next = this.#urgent.shift() ?? this.#others.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
