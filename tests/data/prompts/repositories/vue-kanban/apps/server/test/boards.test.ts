import { expect, test } from "vitest";
import { build } from "../src/app";

test("unknown board is 404", async () => {
  const res = await build().inject({ method: "GET", url: "/api/boards/nope" });
  expect(res.statusCode).toBe(404);
});
