/** A call that cannot be sent. The message is for people, and quotes no value. */
export class Unsent extends Error {
  override readonly name = "Unsent";
  /** Set where the caller has to act differently than when the service cannot be reached. */
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}
