import { expect, test } from "@playwright/test";

test("opens the demo board", async ({ page }) => {
  await page.goto("/b/demo");
  await expect(page.getByText("Hello")).toBeVisible();
});
