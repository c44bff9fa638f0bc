import { formatPrice } from "../src/lib/formatPrice";
import { expect, test } from "vitest";

test("formats cents", () => expect(formatPrice(5)).toBe("0.05"));
