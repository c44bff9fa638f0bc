import { expect, test } from "vitest";
import { between, needsRebalance } from "../src/rank";

test("between halves", () => {
  expect(between(1, 2)).toBe(1.5);
});

test("rebalance on tiny gaps", () => {
  expect(needsRebalance([1, 1.0000001])).toBe(true);
});
