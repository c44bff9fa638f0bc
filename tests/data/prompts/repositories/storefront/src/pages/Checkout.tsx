import { useCart } from "../lib/useCart";

export function Checkout() {
  const { submitOrder } = useCart();
  return <form onSubmit={submitOrder} />;
}
