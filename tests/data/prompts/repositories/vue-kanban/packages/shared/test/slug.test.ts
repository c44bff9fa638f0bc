import { expect, test } from "vitest";
import { slugify } from "../src/slug";

test("slugify trims dashes", () => {
  expect(slugify(" Hello World! ")).toBe("hello-world");
});
