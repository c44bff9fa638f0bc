export function CartButton({ count }: { count: number }) {
  return <button className="cart">{count}</button>;
}
