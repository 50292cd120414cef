/** Those who wait for something to become true, and are woken whenever it may have. */
export class Waiting {
  #isOver = false;
  #wake: (() => void)[] = [];

  /** False: it is over, and was not true by then. */
  async until(isTrue: () => boolean): Promise<boolean> {
    while (!isTrue()) {
      if (this.#isOver) return false;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
    return true;
  }

  wake(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  end(): void {
    this.#isOver = true;
    this.wake();
  }
}
