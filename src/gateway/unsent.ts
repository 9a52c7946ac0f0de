/** A call that cannot be sent as it stands. The message goes to people: it repeats no given value. */
export class Unsent extends Error {
  override readonly name = "Unsent";
}
