import { expect, it } from "vitest";
import * as z from "zod";
import { mark } from "../traits.ts";
import { returnedAs, sentAs } from "./names.ts";

const plain = z.string();
const wired = mark(z.string(), { sends: "backend_id", returns: "backend" });
const hidden = mark(z.string(), { sends: "hostports", returns: "" });

it.each([
  ["the snake case of the field", "deliveryStreamArn", plain, "delivery_stream_arn", "delivery_stream_arn"],
  ["the field itself where it is one word", "ddtags", plain, "ddtags", "ddtags"],
  ["the names it is marked with", "backendRef", wired, "backend_id", "backend"],
  ["the names it is marked with, below an optional", "backendRef", wired.optional(), "backend_id", "backend"],
  ["no name in answers where another field shows it", "addressRefs", hidden, "hostports", ""],
])("a field is known as %s", (_, field, schema, sent, returned) => {
  expect([sentAs(field, schema), returnedAs(field, schema)]).toEqual([sent, returned]);
});
