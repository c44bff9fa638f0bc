export const MAX_ITEMS = 20;

export function useCart() {
  async function submitOrder() {
    await fetch("/api/orders", { method: "POST" });
  }
  return { submitOrder };
}
