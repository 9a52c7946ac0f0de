/** A call that cannot be sent as it stands. The message goes to people: it repeats no given value. */
export class Unsent extends Error {
  override readonly name = "Unsent";
  /** Tells apart what the caller acts on in another way than on a service that is away. */
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}
