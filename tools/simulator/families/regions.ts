import { oneOf } from "../shape/scalars.ts";

export const region = oneOf("au", "eu", "ap", "us", "jp", "in", "sa");
